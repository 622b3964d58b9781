"""What a page shows of its product: text, prices, stock, labels and tables, as a visitor would read them."""
