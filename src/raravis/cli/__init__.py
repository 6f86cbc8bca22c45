"""The program ``raravis``: one file a verb."""
