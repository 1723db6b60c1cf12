// Same compares two pictures: it prints how many of their points differ, and exits 1 if
// any does.
//
//	same A.png B.png
package main

import (
	"fmt"
	"image"
	"image/png"
	"log"
	"os"
)

func main() {
	a, b := read(os.Args[1]), read(os.Args[2])
	if a.Bounds() != b.Bounds() {
		fmt.Printf("%v and %v\n", a.Bounds(), b.Bounds())
		os.Exit(1)
	}
	n := 0
	for y := a.Bounds().Min.Y; y < a.Bounds().Max.Y; y++ {
		for x := a.Bounds().Min.X; x < a.Bounds().Max.X; x++ {
			ar, ag, ab, aa := a.At(x, y).RGBA()
			br, bg, bb, ba := b.At(x, y).RGBA()
			if ar != br || ag != bg || ab != bb || aa != ba {
				n++
			}
		}
	}
	fmt.Printf("%d of %d points differ\n", n, a.Bounds().Dx()*a.Bounds().Dy())
	if n > 0 {
		os.Exit(1)
	}
}

func read(name string) image.Image {
	f, err := os.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		log.Fatalf("%s: %v", name, err)
	}
	return m
}
