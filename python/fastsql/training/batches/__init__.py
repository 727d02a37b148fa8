"""Examples on the way to the network: varied, linked, traced, padded, and delivered in an order that the seed decides."""
