# Leaves out of phantom ammo the records made to be hard (tags hard:...), of
# which some end a connection. A record is "SIZE [TAG]" and SIZE bytes, in which
# lines are counted off; needs LC_ALL=C, so that bytes are counted.
left <= 0 && /^\r?$/ { next } # between records
left <= 0 {
	left = $1
	if (left !~ /^[0-9]+$/) {
		print "easy.awk: line " NR ": a line SIZE [TAG] should be here" >"/dev/stderr"
		exit 1
	}
	hard = $2 ~ /^hard:/
	if (!hard) print
	next
}
{
	left -= length($0) + 1
	if (!hard) print
}
