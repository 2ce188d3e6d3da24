# The machine itself: logging on, drivers, settings, the user's folders.

# https://learn.microsoft.com/troubleshoot/windows-server/user-profiles-and-logon/turn-on-automatic-logon
function Set-EndlessLogon {
    param($Plan)
    $key = 'HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Winlogon'
    $values = @{
        AutoAdminLogon    = '1'
        DefaultUserName   = $Plan.user
        DefaultPassword   = $Plan.password
        DefaultDomainName = $env:COMPUTERNAME
    }
    foreach ($name in $values.Keys) {
        [Microsoft.Win32.Registry]::SetValue($key, $name, $values[$name], [Microsoft.Win32.RegistryValueKind]::String)
    }
    # Setup's own countdown of log-ons would end in a question for the password.
    Remove-ItemProperty -Path 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Winlogon' -Name AutoLogonCount `
        -ErrorAction SilentlyContinue
}

# Windows Setup has loaded the disk's driver; this adds all of them to the driver store and starts them.
# https://learn.microsoft.com/windows-hardware/drivers/devtest/pnputil-command-syntax
function Install-Drivers {
    param([string] $Medium)
    $folder = Join-Path (Split-Path $Medium -Qualifier) '$WinPEDriver$'
    $files = @(Get-ChildItem -LiteralPath $folder -Filter '*.inf' -Recurse)
    if ($files.Count -eq 0) {
        throw "there is no driver below $folder"
    }
    foreach ($file in $files) {
        # 259: there is no such device in this machine, or its driver is no newer; 3010: after a restart.
        Invoke-Program 'pnputil.exe' "/add-driver `"$($file.FullName)`" /install" 10 @(0, 259, 3010)
    }
}

function Set-Machine {
    param($Plan)
    foreach ($entry in $Plan.settings.registry) {
        Set-RegistryEntry $entry
    }
    foreach ($command in $Plan.settings.commands) {
        $file, $arguments = $command.run
        & $file $arguments | Out-Null
        if ($LASTEXITCODE -ne 0) {
            throw "$($command.run -join ' ') ended with exit code $LASTEXITCODE"
        }
    }
    foreach ($service in $Plan.settings.services) {
        # Server editions lack some of them.
        if (Get-Service -Name $service.name -ErrorAction SilentlyContinue) {
            Stop-Service -Name $service.name -Force -ErrorAction SilentlyContinue
            Set-Service -Name $service.name -StartupType Disabled
        }
    }
}

function Set-RegistryEntry {
    param($Entry)
    $kind = [Microsoft.Win32.RegistryValueKind] $Entry.type
    $value = $Entry.value
    if ($Entry.type -eq 'DWord') {
        $value = [int] $value
    }
    [Microsoft.Win32.Registry]::SetValue($Entry.key, $Entry.name, $value, $kind)
}

# Benchmarks name different users; each name leads to the one home.
function New-Homes {
    param($Plan)
    foreach ($name in $Plan.also_home) {
        $path = Join-Path 'C:\Users' $name
        if (-not (Test-Path -LiteralPath $path)) {
            New-Item -ItemType Junction -Path $path -Target $env:USERPROFILE | Out-Null
        }
    }
}

# What the set-up leaves behind: the answer file with the password, temporary files. Then the file system tells
# the disk which blocks are free, so that the image is as small as its content.
function Clear-Traces {
    Remove-Item -Path 'C:\Windows\Panther\unattend*.xml', 'C:\Windows\Panther\autounattend*.xml' -ErrorAction SilentlyContinue
    Get-ChildItem -LiteralPath $env:TEMP, 'C:\Windows\Temp' -Force -ErrorAction SilentlyContinue |
        Remove-Item -Recurse -Force -ErrorAction SilentlyContinue
    Clear-RecycleBin -Force -ErrorAction SilentlyContinue
    Optimize-Volume -DriveLetter C -ReTrim
}
