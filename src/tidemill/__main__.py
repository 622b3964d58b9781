"""`python -m tidemill` is `tidemill`."""

from tidemill.cli.app import main

if __name__ == "__main__":
    main()
