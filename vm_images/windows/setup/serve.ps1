# The logon task: starts the guest server and tells it the machine's first secret and the size of its screen. QEMU puts them
# into the SMBIOS tables as OEM strings, the secret new for each start, so that no image holds one.
# https://learn.microsoft.com/windows/win32/cimwin32prov/win32-computersystem

$ErrorActionPreference = 'Stop'
$strings = @((Get-CimInstance -ClassName Win32_ComputerSystem).OEMStringArray)

function Get-OemString {
    param([string] $Mark)
    $found = $strings | Where-Object { $_ -and $_.StartsWith($Mark) } | Select-Object -First 1
    if (-not $found) {
        throw "the machine has no OEM string $Mark"
    }
    $found.Substring($Mark.Length)
}

$env:DESKARENA_SCREEN = Get-OemString 'deskarena.screen='
# Its packages and itself; what it starts gets a path from it that is without the second.
$env:PYTHONPATH = (Join-Path $PSScriptRoot 'site') + ';' + (Join-Path $PSScriptRoot 'server')
$arguments = Get-Content -LiteralPath (Join-Path $PSScriptRoot 'server-arguments.txt')
Get-OemString 'io.systemd.credential:deskarena.secret=' | & (Join-Path $PSScriptRoot 'python\python.exe') $arguments
exit $LASTEXITCODE
