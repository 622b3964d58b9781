"""`python -m tidemill.bootstrap.lab_server` serves the sites of every vertical on loopback."""

from tidemill.bootstrap.labs import SITES_OPTIONS
from tidemill.lab.server import main

if __name__ == "__main__":
    main(SITES_OPTIONS, "python -m tidemill.bootstrap.lab_server")
