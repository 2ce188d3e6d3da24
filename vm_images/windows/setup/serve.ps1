# The logon task: starts the guest server and hands it the machine's first secret. QEMU puts that into the SMBIOS tables as an
# OEM string, new for each start and under one name for every system, so that no image holds a secret. https://learn.microsoft.com/windows/win32/cimwin32prov/win32-computersystem

$ErrorActionPreference = 'Stop'
$mark = 'io.systemd.credential:deskarena.secret='
$strings = @((Get-CimInstance -ClassName Win32_ComputerSystem).OEMStringArray)
$found = $strings | Where-Object { $_ -and $_.StartsWith($mark) } | Select-Object -First 1
if (-not $found) {
    throw "the machine has no OEM string $mark"
}
# Its packages and itself; what it starts gets a path from it that is without the second.
$env:PYTHONPATH = (Join-Path $PSScriptRoot 'site') + ';' + (Join-Path $PSScriptRoot 'server')
$arguments = Get-Content -LiteralPath (Join-Path $PSScriptRoot 'server-arguments.txt')
$found.Substring($mark.Length) | & (Join-Path $PSScriptRoot 'python\python.exe') $arguments
exit $LASTEXITCODE
