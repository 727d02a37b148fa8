"""The words that linking knows, by language. Lists alone: what they mean, the modules say that read them."""
