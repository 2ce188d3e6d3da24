# The guest server: a Python of its own, started at each log-on by serve.ps1, with the user's screen and full rights.

function Install-Server {
    param($Plan, [string] $Medium)
    $server = $Plan.server
    $python = Join-Path $Base 'python'
    foreach ($part in @($server.parts)) {
        $file = Join-Path $Medium ('server\' + $part.file)
        Test-Hash $file $part.sha256
        $folder = Join-Path $Base $part.to
        Remove-Item -LiteralPath $folder -Recurse -Force -ErrorAction SilentlyContinue
        Expand-Archive -LiteralPath $file -DestinationPath $folder -Force
    }
    # With this file, Python would look at nothing but itself: agents' code would find neither the library that it is given by
    # PYTHONPATH nor what lies beside it, would write in Windows' old code page, and have no exit().
    # https://docs.python.org/3/using/windows.html#finding-modules
    Remove-Item -Path (Join-Path $python 'python*._pth')

    Copy-Item -LiteralPath (Join-Path $PSScriptRoot 'serve.ps1') -Destination $Base -Force
    Set-Content -LiteralPath (Join-Path $Base 'server-arguments.txt') -Value @($server.arguments) -Encoding ASCII
    Register-Server
    Open-Port (Join-Path $python 'python.exe') $server.port
    Set-WayOut $server.proxy
}

# https://learn.microsoft.com/powershell/module/scheduledtasks/new-scheduledtasksettingsset
# Priority 4 is that of a program a person starts; a task's own 7 has the disk and the processor last.
function Register-Server {
    $file = Join-Path $Base 'serve.ps1'
    # Windows 11 shows each console as a window of its terminal, hidden or not, which anyone could close. This console has none:
    # https://github.com/microsoft/terminal/issues/12464
    $action = New-ScheduledTaskAction -Execute 'conhost.exe' -WorkingDirectory $Base `
        -Argument "--headless powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File `"$file`""
    $trigger = New-ScheduledTaskTrigger -AtLogOn
    $who = New-ScheduledTaskPrincipal -UserId $env:USERNAME -LogonType Interactive -RunLevel Highest
    $how = New-ScheduledTaskSettingsSet -ExecutionTimeLimit ([TimeSpan]::Zero) -Priority 4 -AllowStartIfOnBatteries `
        -RestartCount 10 -RestartInterval (New-TimeSpan -Minutes 1) -MultipleInstances IgnoreNew
    Register-ScheduledTask -TaskName 'Deskarena' -Action $action -Trigger $trigger -Principal $who -Settings $how -Force |
        Out-Null
}

# https://learn.microsoft.com/powershell/module/netsecurity/new-netfirewallrule
function Open-Port {
    param([string] $Program, [int] $Port)
    Remove-NetFirewallRule -Name 'Deskarena' -ErrorAction SilentlyContinue
    New-NetFirewallRule -Name 'Deskarena' -DisplayName 'Deskarena guest API' -Direction Inbound -Protocol TCP `
        -LocalPort $Port -Program $Program -Action Allow -Profile Any | Out-Null
}

# Programs that ask Windows for a proxy find the gateway; there is no other way out.
# https://learn.microsoft.com/windows/win32/wininet/enabling-internet-functionality
# https://learn.microsoft.com/windows-server/administration/windows-commands/netsh-winhttp
function Set-WayOut {
    param([string] $Proxy)
    $key = 'HKEY_CURRENT_USER\Software\Microsoft\Windows\CurrentVersion\Internet Settings'
    $text = [Microsoft.Win32.RegistryValueKind]::String
    [Microsoft.Win32.Registry]::SetValue($key, 'ProxyServer', $Proxy, $text)
    [Microsoft.Win32.Registry]::SetValue($key, 'ProxyOverride', '<local>', $text)
    [Microsoft.Win32.Registry]::SetValue($key, 'ProxyEnable', 1, [Microsoft.Win32.RegistryValueKind]::DWord)
    & netsh.exe winhttp set proxy "proxy-server=$Proxy" 'bypass-list=<local>' | Out-Null
    if ($LASTEXITCODE -ne 0) {
        throw "netsh winhttp set proxy ended with exit code $LASTEXITCODE"
    }
}
