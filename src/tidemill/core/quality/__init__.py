"""How far a run or an adapter can be trusted: completeness, drift, proposed selectors, verification."""
