"""The statistics of HYPE: from the values of evaluators to what a paper prints of them."""
