"""API and pages: attempts, their evaluations and the evidence behind them."""
