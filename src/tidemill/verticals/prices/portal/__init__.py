"""The pages of products and their prices."""
