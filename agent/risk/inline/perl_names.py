"""Names that Perl code may use and still be harmless: they only compute, read or print, whatever they are given."""

from agent.risk.inline.reading import words

NAMES = words(
    """
    __FILE__ __LINE__ __PACKAGE__ abs abs_path all and any ARGV atan2 basename BEGIN binmode blessed caller ceil chomp chop chr
    close closedir cmp continue cos cwd DATA DBL_MAX decode decode_base64 decode_json decode_utf8 defined delete die dirname do
    Dumper each else elsif encode encode_base64 encode_json encode_utf8 END eof eq eval exists exit exp fc first floor fmod for
    foreach ge getcwd getgrgid getgrnam getlogin getppid getpwnam getpwuid glob gmtime grep gt hex if index int INT_MAX join keys
    last lc lcfirst le length local localtime lock log looks_like_number lstat lt map max maxstr md5_hex min minstr my ne next no
    none not oct open opendir or ord our pack pairkeys pairs pairvalues pop pos print printf product push quotemeta rand readdir
    readline readlink redo reduce ref reftype return reverse rindex say scalar select sha1_hex sha256_hex sha512_hex shift shuffle
    sin sleep sort splice split sprintf sqrt srand stat state STDERR STDIN STDOUT strftime study sub substr sum sum0 time timegm
    timelocal times uc ucfirst undef uniq uniqnum unless unpack unshift until use values vec wantarray warn while wrap x xor
    """
)
VALUES = words(
    """
    __FILE__ __LINE__ __PACKAGE__ DBL_MAX getlogin getppid INT_MAX time times wantarray
    """
)
MODULES = words(
    """
    bigint bignum Cwd Data::Dumper diagnostics Digest::MD5 Digest::SHA Encode English feature File::Basename integer JSON::PP
    List::Util MIME::Base64 open POSIX Scalar::Util strict Text::Wrap Time::HiRes Time::Local utf8 warnings
    """
)
METHODS = words(
    """
    add addfile autoflush b64digest canonical decode encode flush hexdigest new pretty utf8
    """
)
RESERVED = words(  # Perl's own functions that are not listed: no sub of that name takes their place
    """
    system exec fork unlink rename rmdir mkdir chmod chown utime link symlink truncate kill syscall do require eval dump socket connect
    bind listen accept send recv pipe sysopen syswrite sysread ioctl fcntl dbmopen tie untie bless write format chdir chroot umask
    setpgrp setpriority wait waitpid alarm reset shmctl semctl msgctl import goto package use no print printf say
    """
)
