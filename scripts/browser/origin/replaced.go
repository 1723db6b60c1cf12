package main

import "strings"

// replaced does to the page what the rules of rules.json do.
var replaced = strings.NewReplacer(
	"https://www.origin.example", "",
	"//www.origin.example", "",
	"https://cdn7.origin.example", "",
	"wss://live.origin.example", "",
	`<script src="https://tracker.origin.example/t.js?id=UA-12345-6"></script>`, "",
	`<iframe src="https://ads.origin.example/"></iframe>`, "",
	`/* begin debug */ throw new Error("this was to be taken out"); /* end debug */`, "",
	"Old Brand", "New Brand",
	"old\nbrand", "New Brand",
	"colour", "color",
	"one.origin.test", "1.new.test",
	"two.origin.test", "2.new.test",
	"three.origin.test", "3.new.test",
	"four.origin.test", "4.new.test",
	"five.origin.test", "5.new.test",
	"six.origin.test", "6.new.test",
	"seven.origin.test", "7.new.test",
	"eight.origin.test", "8.new.test",
	"nine.origin.test", "9.new.test",
	"ten.origin.test", "10.new.test",
	"EUR 12,50", "€ 12.50",
	"2011-05-04T", "04.05.2011 ",
	"UA-12345-6", "UA-0-0",
	"Sales.Team@origin.example", "info@new.example",
	"Copyright (c) 2026", "© 2026",
	", powered by Oldpress", "",
)
