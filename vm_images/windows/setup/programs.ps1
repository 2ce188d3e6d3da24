# Programs of the manifest, each from a file of our medium or from a medium of its own.

function Install-Program {
    param($Program, [string] $Medium)
    $file = Get-InstallerFile $Program $Medium
    Test-Hash $file $Program.sha256
    switch ($Program.kind) {
        'exe' { Invoke-Program $file $Program.arguments $Program.minutes }
        'msi' { Invoke-Program 'msiexec.exe' "/i `"$file`" /qn /norestart $($Program.arguments)" $Program.minutes }
        'zip' { Expand-Archive -LiteralPath $file -DestinationPath $Program.to -Force }
        'ps1' { Invoke-Script $file $Program }
        default { throw "there is no kind of program $($Program.kind)" }
    }
    foreach ($entry in $Program.registry) {
        Set-RegistryEntry $entry
    }
    foreach ($folder in $Program.path) {
        Add-MachinePath $folder
    }
    foreach ($text in $Program.files) {
        New-Item -ItemType Directory -Path (Split-Path $text.path) -Force | Out-Null
        # Set-Content would put a byte order mark first, which programs' settings must not have.
        [System.IO.File]::WriteAllText($text.path, $text.text)
    }
    foreach ($shortcut in $Program.shortcuts) {
        New-Shortcut $shortcut
    }
    if (-not (Test-Path -Path $Program.there)) {
        throw "$($Program.name) was installed, but $($Program.there) is not there"
    }
}

# `medium` names a further CD by its label, for installers that are too large for ours; `file` is then a path on it.
function Get-InstallerFile {
    param($Program, [string] $Medium)
    if (-not $Program.medium) {
        return Join-Path $Medium ('programs\' + $Program.file)
    }
    $volume = Get-Volume | Where-Object { $_.FileSystemLabel -eq $Program.medium } | Select-Object -First 1
    if ($null -eq $volume) {
        throw "the medium with the label $($Program.medium) is not in any drive"
    }
    Join-Path ($volume.DriveLetter + ':\') $Program.file
}

# A script of the user's own, for what one silent installer cannot do (licence servers, several parts).
function Invoke-Script {
    param([string] $File, $Program)
    $arguments = "-NoProfile -NonInteractive -ExecutionPolicy Bypass -File `"$File`" $($Program.arguments)"
    Invoke-Program 'powershell.exe' $arguments $Program.minutes
}

function Add-MachinePath {
    param([string] $Folder)
    $before = [Environment]::GetEnvironmentVariable('Path', 'Machine')
    if (($before -split ';') -notcontains $Folder) {
        [Environment]::SetEnvironmentVariable('Path', $before.TrimEnd(';') + ';' + $Folder, 'Machine')
    }
}

function New-Shortcut {
    param($Shortcut)
    $shell = New-Object -ComObject WScript.Shell
    $folder = Join-Path $env:ProgramData 'Microsoft\Windows\Start Menu\Programs'
    $link = $shell.CreateShortcut((Join-Path $folder ($Shortcut.name + '.lnk')))
    $link.TargetPath = $Shortcut.target
    $link.WorkingDirectory = Split-Path $Shortcut.target
    $link.Save()
}
