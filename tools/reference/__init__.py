"""The reference pages in docs/ that tools/generate-docs writes from the source."""
