"""`python -m tidemill.bootstrap.corpus_server` serves the benchmark pages of every vertical on loopback."""

from tidemill.bootstrap.labs import CORPORA
from tidemill.lab.corpus_server import main

if __name__ == "__main__":
    main(CORPORA, "python -m tidemill.bootstrap.corpus_server")
