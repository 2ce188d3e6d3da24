"""7z archives of one file, OldProjects/example.txt, made with the library py7zr, which the project does not include."""

from base64 import b85decode

TEXT = b"An old project.\n" * 4
PASSWORD = "12345"  # noqa: S105 - of these archives, as in WAA's task.

PLAIN_7Z = b85decode(
    "H+sCUCma9-_IObCjsO4v000006aWAK00000qxUNi-~c}W7hM1#n}7!Mo#$6<X&$tuIM5c3*x~+%r~m-q0BitfT>t=qGY75@&;0Og"
    "59{ijzYN`bC%VH`gUEA>z%UN=(1n4;Y>cI8>h=N1fXR}Bw#-=+_dx+A1#dU(o^4IK{#8|LUD;~Kg@~|ySH(L3+PG8Aw6zDWFt-Ui"
    "hY;o=C4QcRbNT07000*T9{~w(00#>J00AK(0T>Kz000"
)
LOCKED_7Z = b85decode(
    "H+sCUCma9-%*k3$tpET300000761SM00000v09dqVrdL3Do;uvY(q3d*R7?N^GMkD*laqP4kIM84bSp~-~fmKg<SvufinlL56}+&"
    "6G`%gwoKy>eyLR4A+v09_n<g;REm7Q;bAs&QhRo%(B0SvoHfs0otNycm>$;2zmKYSRCqctjW3ge&E#TS#aJDdAJ`kgBR@Vyav|R^"
    ")D2M|Fy7gCk3UVNg5wJE$cgH10?Afd>HoFgjVMpvyud^-D>fMoYgf(y02c-z0SSPO00#>J00AK(0T>K`i2wi"
)
LOCKED_NAMES_7Z = b85decode(
    "H+sCUCma9-EKQwXumAu600000DgXcg00000xhF~)a7uDZs<@zIFXR^QKZ42G+eviX>4#9sjk)rR!qhBFBnc?o!Z)7=1-P=rOc4`h"
    "@<&+O+<Qr=G5Rn~@Z5C)WFJjp;Nr6*pWuf|rrUD1Q!c?3_QZ!6zwFZ4t=|BZe(m2?j}W;w%0krv0-x=ev)tCT-S^g7X>cT%9X1X{"
    "hcbM;oOiW8Bm@b_gid6@xMAOHvN!zgXTG<}ZXou9te;OoJ@}z1E1;@L#rZ%E7X}~!34o9Q2MYlJ0VD?T2LTdO4}7V&j5b7km=G|R"
    "zU7*{fDC|%000"
)
X86_7Z = b85decode(
    "H+sCUCma9-)jZU_l>h($000006aWAK00000ON|aN-~c}W7hM1#n}7!Mo#$6<X&$tuIM5c3*x~+%r~m-q0CWIuT>t=qGY75@&;0Og"
    "57cU2edW`a2onlORekxa+R>6|sl9IW6mSszMRNjowuh`>i@c=HJCUo;EKM1Yq>sY-H%t;auPRc~YMB7qY2^HXRFbjy_$hST<M6H2"
    "(%<p`Tztwsc^rH8@6KkC-arxn02c-y0SR^h2MYlJ0U;p)7z}j)00"
)
BZIP2_7Z = b85decode(
    "H+sCUCma9-ePZY~uK)l5000006aWAK00000vwwPWLRx4!F+o`-Q(2rJboT%N3DtlA5I_MS01g$@03ZM{00082Ooops`le4#$Z~j5"
    "MT#L}5d2-q6yZWbaDCI<-~em@XI%gQfinlL57F}b{XoEw&gIK?_C$e~!ocTrd<i{QcQdQ$0uAKvz*<9_9c=@L&Si@`cZA0eBnv|v"
    "ZR~+4rAMMZ34z_2CYcTW&PwIG0X%Wo1l*ebKAKKV-hwk+ee>H2ro3?QZU6um20#G`ZvY1i0RRCZApsZ+Z2$l"
)
DEFLATE_7Z = b85decode(
    "H+sCUCma9-gAwomg8%>k000006aWAK00000#OYPLbIeo7&q+}zD9X=DO)k;nawL%t0N?;@0A^hP0D&_Ht`E;kZ;S`XLu>-qg*t=`"
    "<&-i@Bb8J(#&K15EOOeuFC|S|pnJ3b<p^rJyi-}I%z1hQa!j0-cMrpINQ=Dv2dbECR3e4XUH&(SH_`io@-pYSJI3cA6pMTK57X0J"
    "dkp{=1{DDbZU6@h0RRCZApsZ+Z2$l"
)
LZMA_7Z = b85decode(
    "H+sCUCma9-MyIdtjQ{`u000006aWAK00000RvSg?03e%y2J@ZgS8Qn>w5B-F7LM5A|3>oj|No{C007_sZ~$jr004nA2d)p#>o61#"
    ">*}5X4Ppb0(@a7?4zT2T6(=H~Vpx;pp54qbzZ3Z2p##T_>(XflUeJ@rRF_H6tK$F*R1EGd>SJTdu1sf8I{tz2*JUxU-r~B1+jM%w"
    "+h{RUch)gOBme*a02c-x0SRva2MYlJ0U;p)7z}X$00"
)
STORED_7Z = b85decode(
    "H+sCUCma9-)u19}s{jB1000006aWAK0000046+aZL2e*#Y-AvCa&Ky7V{|SGL2e*#Y-AvCa&Ky7V{|SGL2e*#Y-AvCa&Ky7V{|SG"
    "L2e*#Y-AvCa&Ky7V{|SG-~ea<V_g6MfinlL57F}b{XoEw@vXrvF`9{~@cXLA>Hr!-U0W&%nU!D&oOylLqO+xf(|;|_);%xjmnXvN"
    "JkXY82o^YyUtaO&!&hAYb)C-|CXKj5SL;s`DDvakmYA$B%LUF@$h-g-20#G`YXAoe0RRCZApsZ+X#fB"
)
