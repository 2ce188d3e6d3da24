@echo off
rem Windows Setup calls this once, at the first log-on. It returns at once: what it starts lives longer than Setup's patience.
start "" /min powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File "%~dp0setup\run.ps1"
