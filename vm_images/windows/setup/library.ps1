# What the stages share: reporting to the host, stages that are done or not, running programs with a deadline.

$Base = 'C:\Deskarena'
$State = Join-Path $Base 'state'
$Log = Join-Path $Base 'setup.log'

# One line of JSON for the host, which listens at the first serial port; the port needs no driver and no network.
function Send-Report {
    param([string] $Kind, [hashtable] $Facts = @{})
    $line = 'deskarena ' + (@{ kind = $Kind } + $Facts | ConvertTo-Json -Compress -Depth 4)
    Add-Content -LiteralPath $Log -Value ('{0:o} {1}' -f (Get-Date), $line) -Encoding UTF8
    $port = New-Object System.IO.Ports.SerialPort 'COM1', 115200
    try {
        $port.Encoding = New-Object System.Text.UTF8Encoding $false
        $port.WriteTimeout = 10000
        $port.Open()
        $port.Write($line + "`n")
    }
    finally {
        $port.Dispose()
    }
}

# Does the work of a stage unless its mark says that it is done. The mark comes last: a stage that broke off is done again.
function Invoke-Stage {
    param([string] $Name, [scriptblock] $Work)
    $mark = Join-Path $State ($Name + '.done')
    if (Test-Path -LiteralPath $mark) {
        Send-Report 'kept' @{ stage = $Name }
        return
    }
    Send-Report 'begin' @{ stage = $Name }
    $begun = Get-Date
    try {
        & $Work
    }
    catch {
        Send-Report 'failed' @{ stage = $Name; error = "$_"; at = "$($_.InvocationInfo.PositionMessage)" }
        throw
    }
    New-Item -ItemType File -Path $mark -Force | Out-Null
    Send-Report 'done' @{ stage = $Name; seconds = [int] ((Get-Date) - $begun).TotalSeconds }
}

# Ends the machine after a group of stages, once; the next start goes on behind it. What comes before belongs to the last
# moment: the host is told first, because without it a later start would not come back here.
function Stop-After {
    param([string] $Phase, [scriptblock] $Before)
    $mark = Join-Path $State ($Phase + '.phase')
    if (Test-Path -LiteralPath $mark) {
        return
    }
    Send-Report 'phase' @{ phase = $Phase }
    if ($Before) {
        & $Before
    }
    New-Item -ItemType File -Path $mark -Force | Out-Null
    Stop-Computer -Force
    # Nothing of the next group may run while Windows goes down.
    exit 0
}

# Runs a program to its end. Exit code 3010 is success that wants a restart, which comes anyway:
# https://learn.microsoft.com/windows/win32/msi/error-codes
function Invoke-Program {
    param([string] $File, [string] $Arguments, [int] $Minutes, [int[]] $Success = @(0, 3010))
    $given = @{ FilePath = $File; PassThru = $true; WindowStyle = 'Hidden' }
    if ($Arguments) {
        $given.ArgumentList = $Arguments
    }
    $process = Start-Process @given
    # Without asking for the handle now, the exit code is not kept.
    $null = $process.Handle
    if (-not $process.WaitForExit($Minutes * 60000)) {
        & taskkill.exe /T /F /PID $process.Id | Out-Null
        throw "$File did not end within $Minutes minutes; are its silent arguments right?"
    }
    if ($Success -notcontains $process.ExitCode) {
        throw "$File ended with exit code $($process.ExitCode)"
    }
}

# The drive on which our medium lies; drive letters change when media come and go.
function Get-Medium {
    $volume = Get-Volume | Where-Object { $_.FileSystemLabel -eq 'DESKARENA' } | Select-Object -First 1
    if ($null -eq $volume) {
        throw 'the medium with the label DESKARENA is not in any drive'
    }
    Join-Path ($volume.DriveLetter + ':\') 'deskarena'
}

function Test-Hash {
    param([string] $File, [string] $Expected)
    if (-not $Expected) {
        return
    }
    $found = (Get-FileHash -LiteralPath $File -Algorithm SHA256).Hash
    if ($found -ne $Expected) {
        throw "$File has the sha256 $found, expected $Expected"
    }
}
