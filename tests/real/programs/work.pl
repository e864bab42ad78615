# Strings, hashes, regular expressions, sort, fork with pipes; prints checksums.
use strict;
use warnings;

my $state = 42;

sub next_number {
    $state = ($state * 1103515245 + 12345) & 0x7fffffff;
    return $state >> 8;
}

sub checksum {
    my $sum = 0;
    $sum = ($sum * 31 + unpack('%32C*', $_)) % 4294967291 for @_;
    return $sum;
}

my %words;
push @{ $words{ 'w' . next_number() % 20000 } }, 'x' x (next_number() % 200) for 1 .. 200_000;
my @order = sort { @{ $words{$b} } <=> @{ $words{$a} } || $a cmp $b } keys %words;
print 'hash of arrays: ', scalar(@order), ' keys, ', checksum(@order[0 .. 99]), "\n";

my $text = join ' ', map { "$_=" . join ',', map { length } @{ $words{$_} } } @order;
my $changed = ($text =~ s/(\d+),(\d+)/$2;$1/g);
print "substitutions: $changed, length ", length $text, ', ', checksum($text), "\n";
my @parts = split /[;,= ]/, $text;
print 'split: ', scalar @parts, ' parts, ', checksum(@parts), "\n";

my $grown = '';
$grown .= pack('N', next_number()) x 16 for 1 .. 50_000;
print 'grown string: ', length $grown, ', ', checksum($grown), "\n";

delete $words{$_} for grep { /7/ } keys %words;
print 'after delete: ', scalar(keys %words), "\n";

for my $child (1 .. 4) {
    my $pid = open(my $pipe, '-|') // die "fork: $!";
    if (!$pid) {
        my @made = map { $_ x $child } sort keys %words;
        print "child $child: ", scalar(@made), ' ', checksum(@made), "\n";
        exit 0;
    }
    print while <$pipe>;
    close $pipe;
    print "child $child exited with $?\n";
}
