# A short prompt without colour, the same on every desktop.
PS1='\u@\h:\w\$ '
alias ll='ls -l'
