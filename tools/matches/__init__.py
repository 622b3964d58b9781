"""Long proofs about matches: days of chaos in virtual time, and every match under every fault of every site."""
