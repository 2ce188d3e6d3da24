"""Attempts, their evaluations and the evidence behind them."""
