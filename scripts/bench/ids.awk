# Prints GETs of records at random as phantom ammo, mixed as in the contest, with
# the heads of generated ammo. Needs -v users, locations, visits (how many there
# are) and connection (keep-alive or close).
BEGIN {
	srand(1)
	for (i = 0; i < 20000; i++) {
		kind = rand() * 65
		path = kind < 25 ? "/users/" : kind < 45 ? "/locations/" : "/visits/"
		path = path (1 + int(rand() * (kind < 25 ? users : kind < 45 ? locations : visits)))
		text = "GET " path " HTTP/1.1\r\nHost: travels.test\r\nUser-Agent: Redoubt/1.0 (generated ammo; three phases)\r\n" \
			"Accept: */*\r\nConnection: " connection "\r\n\r\n"
		printf "%d\n%s", length(text), text
	}
}
