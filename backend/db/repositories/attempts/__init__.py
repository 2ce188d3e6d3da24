"""Queries: attempts, their evaluations and the evidence behind them."""
