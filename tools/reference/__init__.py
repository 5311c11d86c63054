"""The reference pages in docs/ that are made from the source: tools/generate-docs writes them."""
