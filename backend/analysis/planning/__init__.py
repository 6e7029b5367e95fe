"""Planning of studies: spreads of published studies and of pilots, power, width, cost."""
