"""The command line: typer and rich, thin over the operations that the portal and the API use too."""
