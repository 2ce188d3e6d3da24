# Everything that happens inside Windows after its own set-up, in stages that are done or not. Started by start.cmd at the
# first log-on, then by a task at each log-on until all is done: a restart or a crash in between goes on where it was.

Set-StrictMode -Version 3
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

. (Join-Path $PSScriptRoot 'library.ps1')
New-Item -ItemType Directory -Path $State -Force | Out-Null

# Two of them must not run at once: the first log-on starts the script, and so does the task that it makes.
$alone = New-Object System.Threading.Mutex $false, 'Global\DeskarenaSetup'
if (-not $alone.WaitOne(0)) {
    exit 0
}

try {
    Invoke-Stage 'resume' {
        $copy = Join-Path $Base 'setup'
        Remove-Item -LiteralPath $copy -Recurse -Force -ErrorAction SilentlyContinue
        Copy-Item -Path $PSScriptRoot -Destination $copy -Recurse -Force
        Copy-Item -LiteralPath (Join-Path (Get-Medium) 'plan.json') -Destination $copy
        $file = Join-Path $copy 'run.ps1'
        $action = New-ScheduledTaskAction -Execute 'powershell.exe' `
            -Argument "-NoProfile -NonInteractive -ExecutionPolicy Bypass -File `"$file`""
        $trigger = New-ScheduledTaskTrigger -AtLogOn
        $who = New-ScheduledTaskPrincipal -UserId $env:USERNAME -LogonType Interactive -RunLevel Highest
        $how = New-ScheduledTaskSettingsSet -ExecutionTimeLimit ([TimeSpan]::Zero) -Priority 4 -AllowStartIfOnBatteries
        Register-ScheduledTask -TaskName 'DeskarenaSetup' -Action $action -Trigger $trigger -Principal $who `
            -Settings $how -Force | Out-Null
    }
    $plan = Get-Content -LiteralPath (Join-Path $Base 'setup\plan.json') -Raw -Encoding UTF8 | ConvertFrom-Json

    . (Join-Path $PSScriptRoot 'machine.ps1')

    Invoke-Stage 'logon' { Set-EndlessLogon $plan }
    Invoke-Stage 'drivers' { Install-Drivers (Get-Medium) }
    Invoke-Stage 'settings' { Set-Machine $plan }
    Invoke-Stage 'homes' { New-Homes $plan }
    Stop-After 'windows'

    # Another medium is in the drive now: programs change more often than Windows, which is kept as it is.
    $medium = Get-Medium
    $plan = Get-Content -LiteralPath (Join-Path $medium 'plan.json') -Raw -Encoding UTF8 | ConvertFrom-Json
    . (Join-Path $medium 'setup\programs.ps1')
    . (Join-Path $medium 'setup\server.ps1')
    foreach ($program in $plan.programs) {
        Invoke-Stage ('program-' + $program.id) { Install-Program $program (Get-Medium) }
    }
    Invoke-Stage 'server' { Install-Server $plan (Get-Medium) }
    Invoke-Stage 'tidy' { Clear-Traces }
    # Not earlier: until here, a restart must go on.
    Stop-After 'programs' { Unregister-ScheduledTask -TaskName 'DeskarenaSetup' -Confirm:$false }
}
finally {
    $alone.ReleaseMutex()
}
