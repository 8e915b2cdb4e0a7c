// Made by Deploy/number-ranges; changes are made there.

/// Ranges of numbers that cost more than where they lie, of every country code.
enum SpecialRateTable {
  static let source = "libphonenumber's number plans as of phonenumbers 9.0.43"
  /// The day on which this was made.
  static let date = "2026-11-23"

  /// A prefix, its reason, and the lengths (with the country code) that ordinary numbers under it have.
  static let text = """
    12422 universal-access
    124629 universal-access
    1246367 universal-access
    1246417 universal-access
    1246418 universal-access
    1246419 universal-access
    1246430 universal-access
    1246431 universal-access
    1246444 universal-access
    1246447 universal-access
    1246448 universal-access
    1246449 universal-access
    124646 universal-access
    124671 universal-access
    124672 universal-access
    1246730 universal-access
    1246731 universal-access
    1246736 universal-access
    1246753 universal-access
    124697 premium
    1264724 pager
    126840 pager
    131 universal-access 11
    134597 premium
    1868619 voicemail
    1900 premium
    2090 premium
    21289 premium
    213801 shared-cost
    213802 shared-cost
    213803 premium
    213804 premium
    213805 premium
    213806 premium
    213808 premium
    213809 premium
    216811 shared-cost
    21682 shared-cost
    21688 premium
    22181 shared-cost
    22188 premium
    22709 premium
    230219 pager
    23030 premium
    231332 premium
    234700 universal-access
    23687 premium
    24090 premium
    24280 premium
    24701 universal-access
    24702 universal-access
    24703 universal-access
    24704 universal-access
    24705 universal-access
    24706 universal-access
    24707 universal-access
    24708 universal-access
    24709 universal-access
    24710 universal-access
    24711 universal-access
    24712 universal-access
    24713 universal-access
    24714 universal-access
    24715 universal-access
    24716 universal-access
    24717 universal-access
    24718 universal-access
    24719 universal-access
    24750 universal-access
    24751 universal-access
    24752 universal-access
    24753 universal-access
    24754 universal-access
    24755 universal-access
    24756 universal-access
    24757 universal-access
    24758 universal-access
    24759 universal-access
    24780 universal-access
    24781 universal-access
    24782 universal-access
    24783 universal-access
    24784 universal-access
    24785 universal-access
    24786 universal-access
    24787 universal-access
    24788 universal-access
    24789 universal-access
    24790 universal-access
    24791 universal-access
    24792 universal-access
    24793 universal-access
    24794 universal-access
    24795 universal-access
    24796 universal-access
    24797 universal-access
    24798 universal-access
    24799 universal-access
    24885 premium
    25090 premium
    25490 premium
    25584 shared-cost
    25586 shared-cost
    25590 premium
    25690 premium
    26281 shared-cost
    26282 shared-cost
    26288 shared-cost
    26289 premium
    26487 premium
    26790 premium
    26890 premium
    26980 premium
    26981 premium
    26982 premium
    26983 premium
    26984 premium
    26985 premium
    26986 premium
    26987 premium
    26988 premium
    26989 premium
    2786 premium
    2790 premium
    2791 premium
    2792 premium
    29790 premium
    29890 premium
    3050 universal-access
    30801 shared-cost
    30806 shared-cost
    3081 shared-cost
    3082 shared-cost
    3085 shared-cost
    3087 shared-cost
    3090 premium
    3114 universal-access
    3166 pager
    3184 universal-access
    3187 universal-access
    3188 universal-access
    3190 premium
    3270 premium
    3278 shared-cost
    3290 premium
    33806 universal-access
    33807 universal-access
    33808 universal-access
    33809 universal-access
    3381 premium
    3382 premium
    3383 premium
    3384 shared-cost
    3385 premium
    3386 premium
    3388 premium
    3389 premium
    3451 universal-access
    34803 premium
    34806 premium
    34807 premium
    34901 shared-cost
    34902 shared-cost
    351600 voicemail
    351601 premium
    351607 premium
    351608 premium
    35160920 voicemail
    351609233 voicemail
    351609234 voicemail
    351609239 voicemail
    35160924 voicemail
    35162 pager
    35164 premium
    35166920 voicemail
    351669233 voicemail
    351669234 voicemail
    351669239 voicemail
    35166924 voicemail
    35168 pager
    35170 universal-access
    35176 premium
    351808 shared-cost
    351809 shared-cost
    352801 shared-cost
    352900 premium
    352901 premium
    352905 premium
    35315 premium 11,12
    353185 shared-cost 11,12
    353189 shared-cost 11,12
    35381 universal-access
    35383 voicemail 12
    35385 voicemail 12
    35386 voicemail 12
    35387 voicemail 12
    35388 voicemail 12
    35389 voicemail 12
    354689 voicemail
    354809 universal-access
    354871 voicemail
    354878 voicemail
    354880 voicemail
    35490 premium
    35495 voicemail
    35580 shared-cost 10
    35590 premium
    35650 premium
    35651 premium
    35652 premium
    35671 pager
    35750 universal-access
    35777 universal-access
    357801 shared-cost
    357802 shared-cost
    357803 shared-cost
    357804 shared-cost
    357805 shared-cost
    357806 shared-cost
    357807 shared-cost
    357808 shared-cost
    357809 shared-cost
    35790 premium
    35810 universal-access
    35820 universal-access
    35829 universal-access
    35830 universal-access
    35839 universal-access
    35860 premium
    35870 premium
    35871 universal-access
    35873 universal-access
    35875 universal-access
    359700 shared-cost
    35990 premium
    3638 universal-access
    3690 premium
    3691 premium
    370706 universal-access
    370707 universal-access
    370808 shared-cost
    370900 premium
    370902 premium
    370903 premium
    370909 premium
    37091 premium
    37181 shared-cost
    37190 premium
    37240 premium
    37290 premium
    373803 universal-access
    373808 shared-cost
    37390 premium
    374801 shared-cost
    374802 shared-cost
    374803 shared-cost
    374804 shared-cost
    37490 premium
    37581 premium
    37590 premium
    37610 premium
    37611 premium
    37612 premium
    37613 premium
    37614 premium
    37615 premium
    37616 premium
    37617 premium
    37618 premium 11
    37619 premium
    37690 premium
    37691 premium
    37692 premium
    37693 premium
    37694 premium
    37695 premium
    37696 premium
    37697 premium
    37698 premium
    37699 premium
    37871 premium
    37877 premium
    37878 premium
    38090 premium
    38170 universal-access
    38176 universal-access
    38178 premium
    38190 premium
    38277 universal-access
    38294 premium
    38295 premium
    38390 premium
    38560 premium
    38561 premium
    38562 universal-access
    38564 premium
    38565 premium
    38569 premium
    38572 universal-access
    38689 premium
    38690 premium
    38770 universal-access
    38781 shared-cost
    38782 shared-cost
    38790 premium
    38792 premium
    38794 premium
    38796 premium
    38950 premium
    38951 premium
    38952 premium
    38953 premium
    38954 premium
    38955 premium
    38956 premium
    38957 premium
    38958 premium
    38959 premium
    389801 shared-cost
    389802 shared-cost
    389803 shared-cost
    389804 shared-cost
    389805 shared-cost
    389806 shared-cost
    389807 shared-cost
    389808 shared-cost
    389809 shared-cost
    38981 shared-cost
    38982 shared-cost
    38983 shared-cost
    38984 shared-cost
    38985 shared-cost
    38986 shared-cost
    38987 shared-cost
    38988 shared-cost
    38989 shared-cost
    390878 premium
    3914 premium
    3916 premium
    3932 voicemail 11,12
    3933 voicemail 11,12
    3934 voicemail 11,12
    3935 voicemail 11,12
    3936 voicemail 11,12
    3937 voicemail 11,12
    3938 voicemail 11,12
    3984 shared-cost
    3989 premium
    4037 universal-access
    40801 shared-cost
    40805 universal-access
    40807 universal-access
    40808 universal-access
    4090 premium
    4151 universal-access
    4158 universal-access
    4174 pager
    4184 shared-cost
    4186 voicemail
    4190 premium
    42081 shared-cost
    42083 shared-cost
    42084 shared-cost
    42090 premium
    42093 voicemail
    42095 universal-access
    42096 voicemail
    420972 universal-access
    420973 universal-access
    420974 universal-access
    420976 premium
    42185 shared-cost
    42186 shared-cost
    42187 shared-cost
    42188 shared-cost
    42189 shared-cost
    421900 premium
    421909 pager 12
    42196 universal-access
    42197 premium
    42198 premium
    42369 voicemail
    42387 universal-access
    42390 premium
    4381 shared-cost
    4382 shared-cost
    4386 premium
    4389 premium
    4390 premium
    4393 premium
    4430 universal-access
    4433 universal-access
    4434 universal-access
    4437 universal-access
    4455 universal-access
    4470 revenue-share
    44760 pager
    447623 pager
    447625 pager
    447626 pager
    44763 pager
    44764 pager
    44765 pager
    44766 pager
    44767 pager
    44768 pager
    44769 pager
    4484 premium
    4487 premium
    4490 premium
    4491 premium
    4498 premium
    4590 premium
    4610 universal-access
    4625 voicemail 10,11
    46649 premium
    4667 voicemail 10,11
    4674 pager
    4677 shared-cost
    46900 premium
    46939 premium
    46944 premium
    4699 premium
    4702 universal-access
    4703 universal-access
    4705 universal-access
    4706 universal-access
    4707 universal-access
    4708 universal-access
    4709 universal-access
    4781 shared-cost
    4782 premium
    4864 pager
    4870 premium
    48801 shared-cost
    48804 universal-access
    4913 premium
    4915 voicemail 13
    49160 voicemail 12,13
    49162 voicemail 12,13
    49163 voicemail 12,13
    49164 pager
    49168 pager
    49169 pager
    4917 voicemail 12,13
    4918 shared-cost
    49900 premium
    50219 premium
    50390 premium
    50690 premium
    507822 premium
    507855 premium
    50786 premium
    507877 premium
    507878 premium
    507886 premium
    507900 premium
    507981 premium
    50881 premium 9
    50882 premium 9
    50889 premium 9
    51801 shared-cost
    51805 premium
    5230 shared-cost
    5290 premium
    53807 shared-cost
    5460 premium
    5481 universal-access
    5530 shared-cost
    5540 shared-cost
    5543 shared-cost 12,13
    5548 shared-cost 12,13
    5550 premium
    5590 premium
    5660 shared-cost 11
    5719 premium
    5790 premium
    58501 universal-access
    5890 premium
    59081 premium
    59082 premium
    59089 premium
    59290 premium
    59481 premium
    59482 premium
    59489 premium
    59520 universal-access
    59530 universal-access
    59540 universal-access
    59550 universal-access
    59560 universal-access
    59570 universal-access
    59580 universal-access
    59590 universal-access
    59681 premium
    59682 premium
    59689 premium
    59790 premium
    59821 universal-access 11
    59890 premium
    59960 shared-cost
    599955 pager
    6016 premium 11
    6113 shared-cost
    6116 pager
    6119 premium
    6215 universal-access
    62804 shared-cost
    62807 universal-access
    62809 premium
    6411 premium
    6413 premium
    6414 premium
    6415 premium
    6417 premium
    6418 premium
    6419 premium
    6450 premium 11,12
    6481 universal-access
    6482 universal-access
    6483 universal-access
    6484 universal-access
    6485 universal-access
    6486 universal-access
    6487 universal-access
    6489 universal-access
    6490 premium
    6519 premium
    6570 universal-access
    6619 premium 10
    67090 premium
    675270 pager
    675271 pager
    67830 universal-access
    67833 universal-access
    678900 universal-access
    68140 voicemail
    68180 voicemail 12
    68736 premium
    68944 universal-access
    7803 premium
    7809 premium
    808 shared-cost
    8120 pager
    81570 universal-access
    81990 premium
    8215 universal-access
    8216 universal-access 11,12
    8218 universal-access 11,12
    8260 premium
    8419 premium
    8469 universal-access
    8479 universal-access 11
    85230 universal-access
    8527100 pager
    8527108 pager
    852711 pager
    852713 pager
    852716 pager
    852719 pager
    85272 pager
    85273 pager
    85274 pager
    85275 pager
    85276 pager
    85277 pager
    85278 pager
    85279 pager
    852900 premium
    85519 premium 11
    86101 shared-cost 9,12
    861096 shared-cost 12
    8616 premium 13
    862096 shared-cost 12
    862196 shared-cost 12
    862296 shared-cost 12
    862396 shared-cost 12
    862496 shared-cost 12
    862596 shared-cost 12
    862796 shared-cost 12
    862896 shared-cost 12
    862996 shared-cost 12
    8631096 shared-cost 12
    8631196 shared-cost 13
    8631296 shared-cost 12
    8631396 shared-cost 12
    8631496 shared-cost 12
    8631596 shared-cost 12
    8631696 shared-cost 12
    8631796 shared-cost 12
    8631896 shared-cost 12
    8631996 shared-cost 12
    8633596 shared-cost 12
    8634996 shared-cost 12
    8635096 shared-cost 12
    8635196 shared-cost 12
    8635296 shared-cost 12
    8635396 shared-cost 12
    8635496 shared-cost 12
    8635596 shared-cost 12
    8635696 shared-cost 12
    8635796 shared-cost 12
    8635896 shared-cost 12
    8635996 shared-cost 12
    8637096 shared-cost 12
    8637196 shared-cost 13
    8637296 shared-cost 12
    8637396 shared-cost 12
    8637496 shared-cost 12
    8637596 shared-cost 12
    8637696 shared-cost 12
    8637796 shared-cost 13
    8637996 shared-cost 13
    8639196 shared-cost 12
    8639296 shared-cost 12
    8639396 shared-cost 12
    8639496 shared-cost 12
    8639596 shared-cost 12
    8639696 shared-cost 12
    8639896 shared-cost 12
    8640 shared-cost
    8641196 shared-cost 13
    8641296 shared-cost 12
    8641596 shared-cost 12
    8641696 shared-cost 12
    8641796 shared-cost 12
    8641896 shared-cost 12
    8641996 shared-cost 12
    8642196 shared-cost 12
    8642796 shared-cost 12
    8642996 shared-cost 12
    8643196 shared-cost 13
    8643296 shared-cost 13
    8643396 shared-cost 12,13
    8643496 shared-cost 12
    8643596 shared-cost 12,13
    8643696 shared-cost 12
    8643796 shared-cost 12
    8643896 shared-cost 12
    8643996 shared-cost 12
    8645196 shared-cost 13
    8645296 shared-cost 12
    8645396 shared-cost 12
    8645496 shared-cost 12
    8645596 shared-cost 12
    8645696 shared-cost 12
    8645796 shared-cost 12
    8645896 shared-cost 12
    8645996 shared-cost 12
    8646496 shared-cost 12
    8646796 shared-cost 12
    8646896 shared-cost 12
    8646996 shared-cost 12
    8647096 shared-cost 12
    8647196 shared-cost 12
    8647296 shared-cost 12
    8647396 shared-cost 12
    8647496 shared-cost 12
    8647596 shared-cost 12
    8647696 shared-cost 12
    8647796 shared-cost 12
    8647896 shared-cost 12
    8647996 shared-cost 12
    8648296 shared-cost 12
    8648396 shared-cost 12
    8651096 shared-cost 13
    8651196 shared-cost 13
    8651296 shared-cost 13
    8651396 shared-cost 13
    8651496 shared-cost 13
    8651596 shared-cost 13
    8651696 shared-cost 13
    8651796 shared-cost 13
    8651896 shared-cost 13
    8651996 shared-cost 13
    8652396 shared-cost 13
    8652796 shared-cost 13
    8653096 shared-cost 12
    8653196 shared-cost 13
    8653296 shared-cost 13
    8653396 shared-cost 12
    8653496 shared-cost 12
    8653596 shared-cost 12
    8653696 shared-cost 12
    8653796 shared-cost 12
    8653896 shared-cost 12
    8653996 shared-cost 12
    8654396 shared-cost 12
    8654696 shared-cost 12
    8655096 shared-cost 12
    8655196 shared-cost 13
    8655296 shared-cost 12
    8655396 shared-cost 12
    8655496 shared-cost 12
    8655596 shared-cost 12
    8655696 shared-cost 12
    8655796 shared-cost 12
    8655896 shared-cost 12
    8655996 shared-cost 12
    8656196 shared-cost 12
    8656296 shared-cost 12
    8656396 shared-cost 12
    8656496 shared-cost 12
    8656696 shared-cost 12
    8657096 shared-cost 12
    8657196 shared-cost 13
    8657296 shared-cost 12
    8657396 shared-cost 13
    8657496 shared-cost 13
    8657596 shared-cost 13
    8657696 shared-cost 13
    8657796 shared-cost 13
    8657896 shared-cost 12
    8657996 shared-cost 13
    8658096 shared-cost 12
    8659196 shared-cost 13
    8659296 shared-cost 12
    8659396 shared-cost 12
    8659496 shared-cost 12
    8659596 shared-cost 13
    8659696 shared-cost 12
    8659796 shared-cost 12
    8659896 shared-cost 12
    8659996 shared-cost 12
    8663196 shared-cost 12
    8663296 shared-cost 12
    8663396 shared-cost 12
    8663596 shared-cost 12
    8666096 shared-cost 12
    8666296 shared-cost 12
    8666396 shared-cost 12
    8666896 shared-cost 12
    8669196 shared-cost 12
    8669296 shared-cost 12
    8670196 shared-cost 12
    8671096 shared-cost 12
    8671196 shared-cost 12
    8671296 shared-cost 12
    8671396 shared-cost 12
    8671496 shared-cost 12
    8671596 shared-cost 12
    8671696 shared-cost 12
    8671796 shared-cost 12
    8671896 shared-cost 12
    8671996 shared-cost 12
    8672296 shared-cost 12
    8672496 shared-cost 12
    8672896 shared-cost 12
    8673096 shared-cost 12
    8673196 shared-cost 13
    8673496 shared-cost 12
    8673596 shared-cost 12
    8673696 shared-cost 12
    8673796 shared-cost 12
    8673896 shared-cost 12
    8673996 shared-cost 12
    8674396 shared-cost 12
    8674496 shared-cost 12
    8674596 shared-cost 12
    8674696 shared-cost 12
    8675096 shared-cost 12
    8675196 shared-cost 12
    8675296 shared-cost 12
    8675396 shared-cost 12
    8675496 shared-cost 12,13
    8675596 shared-cost 13
    8675696 shared-cost 12
    8675796 shared-cost 13
    8675896 shared-cost 12
    8675996 shared-cost 12
    8676096 shared-cost 13
    8676296 shared-cost 12
    8676396 shared-cost 12
    8676696 shared-cost 12
    8676896 shared-cost 12
    8676996 shared-cost 13
    8677096 shared-cost 12
    8677196 shared-cost 12
    8677296 shared-cost 12
    8677396 shared-cost 12
    8677496 shared-cost 12
    8677596 shared-cost 12
    8677696 shared-cost 12
    8677796 shared-cost 12
    8677896 shared-cost 12
    8677996 shared-cost 12
    8679096 shared-cost 12
    8679196 shared-cost 13
    8679296 shared-cost 12
    8679396 shared-cost 12
    8679496 shared-cost 12
    8679596 shared-cost 12
    8679696 shared-cost 12
    8679796 shared-cost 12
    8679896 shared-cost 12
    8679996 shared-cost 12
    8681296 shared-cost 12
    8681396 shared-cost 12
    8681696 shared-cost 12
    8681796 shared-cost 12
    8681896 shared-cost 12
    8682596 shared-cost 12
    8682696 shared-cost 12
    8682796 shared-cost 12
    8683096 shared-cost 12
    8683196 shared-cost 12
    8683296 shared-cost 12
    8683396 shared-cost 12
    8683496 shared-cost 12
    8683596 shared-cost 12
    8683696 shared-cost 12
    8683796 shared-cost 12
    8683896 shared-cost 12
    8683996 shared-cost 12
    8685196 shared-cost 12,13
    8685496 shared-cost 12
    8685596 shared-cost 12
    8685696 shared-cost 12
    8685796 shared-cost 12
    8685896 shared-cost 12
    8685996 shared-cost 12
    8687096 shared-cost 12
    8687196 shared-cost 13
    8687296 shared-cost 12
    8687396 shared-cost 12
    8687496 shared-cost 12
    8687596 shared-cost 12
    8687696 shared-cost 12
    8687796 shared-cost 12
    8687896 shared-cost 12
    8687996 shared-cost 12
    8688396 shared-cost 12
    8688696 shared-cost 12
    8688796 shared-cost 12
    8688896 shared-cost 12
    8689196 shared-cost 12
    8689296 shared-cost 12
    8689396 shared-cost 12
    8689496 shared-cost 12
    8689596 shared-cost 12
    8689696 shared-cost 12
    8689796 shared-cost 12
    8689896 shared-cost 13
    8690196 shared-cost 12
    8690296 shared-cost 12
    8690396 shared-cost 12
    8690696 shared-cost 12
    8690896 shared-cost 12
    8690996 shared-cost 12
    8691196 shared-cost 12
    8691296 shared-cost 12
    8691396 shared-cost 12
    8691496 shared-cost 12
    8691596 shared-cost 12
    8691696 shared-cost 12
    8691796 shared-cost 12
    8691996 shared-cost 12
    8693096 shared-cost 12
    8693196 shared-cost 12
    8693296 shared-cost 12
    8693396 shared-cost 12
    8693496 shared-cost 12
    8693596 shared-cost 12
    8693696 shared-cost 12
    8693796 shared-cost 12
    8693896 shared-cost 12
    8693996 shared-cost 12
    8694196 shared-cost 12
    8694396 shared-cost 12
    86950 shared-cost
    8695196 shared-cost 12
    8695296 shared-cost 12
    8695396 shared-cost 12
    8695496 shared-cost 12
    8695596 shared-cost 12
    8697096 shared-cost 12
    8697196 shared-cost 12
    8697296 shared-cost 12
    8697396 shared-cost 12
    8697496 shared-cost 12
    8697596 shared-cost 12
    8697696 shared-cost 12
    8697796 shared-cost 12
    8697896 shared-cost 12
    8697996 shared-cost 12
    8699096 shared-cost 12
    8699196 shared-cost 12
    8699296 shared-cost 12
    8699396 shared-cost 12
    8699496 shared-cost 12
    8699596 shared-cost 12
    8699696 shared-cost 12
    8699796 shared-cost 12
    8699896 shared-cost 12
    8699996 shared-cost 12
    870 satellite
    878 international-network
    881 satellite
    882 international-network
    883 international-network
    88620 premium
    88650 universal-access
    88800 universal-access
    88801 universal-access
    88802 universal-access
    88803 universal-access
    88804 universal-access
    88805 universal-access
    88806 universal-access
    88807 universal-access
    88808 universal-access
    88809 universal-access
    88810 universal-access
    88811 universal-access
    88812 universal-access
    88813 universal-access
    88814 universal-access
    88815 universal-access
    88816 universal-access
    88817 universal-access
    88818 universal-access
    88819 universal-access
    88820 universal-access
    88821 universal-access
    88822 universal-access
    88823 universal-access
    88824 universal-access
    88825 universal-access
    88826 universal-access
    88827 universal-access
    88828 universal-access
    88829 universal-access
    88830 universal-access
    88831 universal-access
    88832 universal-access
    88833 universal-access
    88834 universal-access
    88835 universal-access
    88836 universal-access
    88837 universal-access
    88838 universal-access
    88839 universal-access
    88840 universal-access
    88841 universal-access
    88842 universal-access
    88843 universal-access
    88844 universal-access
    88845 universal-access
    88846 universal-access
    88847 universal-access
    88848 universal-access
    88849 universal-access
    88850 universal-access
    88851 universal-access
    88852 universal-access
    88853 universal-access
    88854 universal-access
    88855 universal-access
    88856 universal-access
    88857 universal-access
    88858 universal-access
    88859 universal-access
    88860 universal-access
    88861 universal-access
    88862 universal-access
    88863 universal-access
    88864 universal-access
    88865 universal-access
    88866 universal-access
    88867 universal-access
    88868 universal-access
    88869 universal-access
    88870 universal-access
    88871 universal-access
    88872 universal-access
    88873 universal-access
    88874 universal-access
    88875 universal-access
    88876 universal-access
    88877 universal-access
    88878 universal-access
    88879 universal-access
    88880 universal-access
    88881 universal-access
    88882 universal-access
    88883 universal-access
    88884 universal-access
    88885 universal-access
    88886 universal-access
    88887 universal-access
    88888 universal-access
    88889 universal-access
    88890 universal-access
    88891 universal-access
    88892 universal-access
    88893 universal-access
    88894 universal-access
    88895 universal-access
    88896 universal-access
    88897 universal-access
    88898 universal-access
    88899 universal-access
    9044 universal-access 12
    90512 pager
    9088 premium
    9089 premium
    9090 premium
    91140 universal-access
    91186 premium 12
    9221 universal-access 12
    9222 universal-access 11,12
    9223 universal-access 11,12
    9224 universal-access 11,12
    9225 universal-access 11,12
    9229 universal-access 11,12
    9240 universal-access 11,12
    9241 universal-access 11,12
    9242 universal-access 12
    9244 universal-access 11,12
    9245 universal-access 11,12
    9246 universal-access 11,12
    9247 universal-access 11,12
    9248 universal-access 11,12
    9249 universal-access 11,12
    9251 universal-access 11,12
    9252 universal-access 11,12
    9253 universal-access 11,12
    9254 universal-access 11,12
    9255 universal-access 11,12
    9256 universal-access 11,12
    9257 universal-access 11,12
    9260 universal-access 11,12
    9261 universal-access 11,12
    9262 universal-access 11,12
    9263 universal-access 11,12
    9264 universal-access 11,12
    9265 universal-access 11,12
    9266 universal-access 11,12
    9267 universal-access 11,12
    9268 universal-access 11,12
    9271 universal-access 11,12
    9272 universal-access 11,12
    9274 universal-access 11,12
    9281 universal-access 11,12
    9282 universal-access 11,12
    9283 universal-access 11,12
    9284 universal-access 11,12
    9285 universal-access 11,12
    9286 universal-access 11,12
    9290 premium
    9291 universal-access 11,12
    9292 universal-access 11,12
    9293 universal-access 11,12
    9294 universal-access 11,12
    9296 universal-access 11,12
    9299 universal-access 11,12
    9419 universal-access
    96040 universal-access
    96045 universal-access
    96090 premium 10
    96180 shared-cost 10
    96190 premium 10
    96191 premium 10
    96274 pager
    96281 universal-access
    96285 shared-cost
    96288 universal-access
    96290 premium
    96291 premium
    96292 premium
    96293 premium
    96294 premium
    96295 premium
    96296 premium
    96297 premium
    96298 premium
    96299 premium
    96692 premium
    968900 premium
    97017 shared-cost
    97160 universal-access
    97170 shared-cost
    97190 premium
    97212 premium 10
    972151 voicemail
    972159 universal-access
    97217 shared-cost
    97219 premium
    97384 shared-cost
    97387 premium
    97390 premium
    97391 premium
    97392 premium
    97393 premium
    97394 premium
    97395 premium
    97396 premium
    97397 premium
    97398 premium
    97421 pager
    97423 pager
    97426 pager
    979 premium
    9896 universal-access
    99490 premium
    """
}
