"""The lab's shops: three of different make, whose prices move, whose stock runs out, and what goes wrong with them."""
