"""`canonym train`: one subcommand per method."""
