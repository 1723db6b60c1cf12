// Command subst measures how fast one engine goes over one body with one set of
// rules, and prints a line of JSON: proxy/subst itself, or what a Go program
// would use instead. It is a part of scripts/bench.sh, which runs it in turn with
// its peers, and no part of Redoubt.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"strings"
	"syscall"
	"time"

	"redoubt/proxy/subst"
	"redoubt/proxy/subst/prefilter"
)

// setting is what an engine is made for.
type setting struct {
	rules   []rule
	piece   int // bytes fed at a time, where an engine takes pieces
	options subst.Options
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("subst: ")
	engine := flag.String("engine", "find", "find, emit or out (proxy/subst without output, with it in slices, in a buffer), joined or each (regexp, all rules in one or one after the other), replacer (strings.Replacer)")
	set := flag.String("rules", "R10", "`set` of rules.tsv")
	body := flag.String("body", "html", "html, js or a")
	match := flag.String("match", "longest", "longest or first, for find, out and joined")
	kernel := flag.String("kernel", "auto", "auto, plain, avx2 or vbmi: what find and out skip bytes with")
	size := flag.Int("size", 4<<20, "bytes of the body")
	piece := flag.Int("piece", 16<<10, "bytes of a piece")
	seconds := flag.Float64("seconds", 1, "to measure; a pass that has begun is finished")
	agree := flag.Bool("check", false, "measure nothing: see whether engines agree")
	write := flag.Bool("write", false, "measure nothing: print the body")
	form := flag.String("form", "", "measure nothing: print the rules as json, removing (json that puts nothing in), sub_filter or subs_filter")
	flag.Parse()

	text, err := bodyOf(*body, *size)
	if err != nil {
		log.Fatal(err)
	}
	if *write {
		if _, err := os.Stdout.Write(text); err != nil {
			log.Fatal(err)
		}
		return
	}
	if *piece < 1 {
		log.Fatalf("--piece %d: a number from 1 should be here", *piece)
	}
	s := setting{piece: *piece}
	if s.rules, err = rulesOf(*set); err != nil {
		log.Fatal(err)
	}
	if *form != "" {
		rules, err := inForm(*form, s.rules)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(rules)
		return
	}
	if s.options.Match, err = matchOf(*match); err != nil {
		log.Fatal(err)
	}
	if s.options.Kernel, err = kernelOf(*kernel); err != nil {
		log.Fatal(err)
	}
	if *agree {
		if err := check(s, text); err != nil {
			log.Fatalf("%s on %s: %v", *set, *body, err)
		}
		return
	}
	e, err := newEngine(*engine, s)
	if err != nil {
		log.Fatal(err)
	}
	r := measure(e, text, *seconds)
	fmt.Printf(`{"engine":"%s","set":"%s","body":"%s","match":"%s","kernel":"%s","mb_per_s":%.3f,"bytes":%d,"matches":%d,"steps_per_byte":%.3f,"overruns":%d,"passes":%d,"seconds":%.3f,"cpu_seconds":%.3f,"others_share":%.3f}`+"\n",
		*engine, *set, *body, *match, *kernel, float64(r.bytes)*float64(r.passes)/r.cpu/1e6, r.bytes, r.did.matches, float64(r.did.steps)/float64(r.bytes), r.did.overruns,
		r.passes, r.wall, r.cpu, max(0, 1-r.cpu/r.wall))
}

func matchOf(name string) (subst.Match, error) {
	switch name {
	case "longest":
		return subst.Longest, nil
	case "first":
		return subst.First, nil
	}
	return 0, fmt.Errorf("--match %s: there are longest and first", name)
}

func kernelOf(name string) (prefilter.Kernel, error) {
	for _, k := range []prefilter.Kernel{prefilter.Auto, prefilter.Plain, prefilter.AVX2, prefilter.VBMI} {
		if name != strings.ToLower(k.String()) {
			continue
		}
		if !prefilter.Supported(k) {
			return 0, fmt.Errorf("--kernel %s: this processor lacks it", name)
		}
		return k, nil
	}
	return 0, fmt.Errorf("--kernel %s: there are auto, plain, avx2 and vbmi", name)
}

// result is what was measured. The speed is by CPU time: what else ran on the
// core counts little then.
type result struct {
	did       effort
	bytes     int // of a pass
	passes    int
	wall, cpu float64 // seconds
}

// Some engines are so slow that they are measured on the beginning of a body, as
// long as will not take more than 2 s.
const patience = 2.0

// sampleOf is the part of a text that an engine is measured on. It has been over
// it, or over a shorter one, twice, and so is warm.
func sampleOf(e engine, text []byte) []byte {
	sample := text[:min(len(text), 4<<10)]
	for _, size := range []int{256 << 10, len(text)} {
		e(sample)
		before := cpuSeconds()
		e(sample)
		size = min(size, len(text))
		if (cpuSeconds()-before)*float64(size)/float64(len(sample)) > patience {
			break
		}
		sample = text[:size]
	}
	return sample
}

func measure(e engine, text []byte, seconds float64) result {
	r := result{}
	text = sampleOf(e, text)
	r.bytes = len(text)
	r.did = e(text)
	cpu, start := cpuSeconds(), time.Now()
	for r.passes == 0 || r.wall < seconds {
		e(text)
		r.passes++
		r.wall = time.Since(start).Seconds()
	}
	r.cpu = cpuSeconds() - cpu
	return r
}

// cpuSeconds is the CPU time of all threads, garbage collection included.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
