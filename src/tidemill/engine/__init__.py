"""DRIVE: `drain` and `tick` are the only entries; everything else keeps them turning."""
