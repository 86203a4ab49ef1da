// Command classifier classifies three 8x8 pictures by a network of two layers with fixed weights.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/build"
)

// The pictures have 64 pixels each. They are the inputs and the weights of layer one.
const (
	cross  = "#......#.#....#...#..#.....##......##.....#..#...#....#.#......#"
	square = "#########......##......##......##......##......##......#########"
	bar    = "...##......##......##......##......##......##......##......##..."
	// A square without three of its pixels is still classified as a square.
	worn = "######.##......##......#.......##......##......##......###.#####"
)

// batch is the number of pictures of a run, one for each column of the input. A row of 32 fp16
// elements has 64 bytes, the alignment of rows, so it needs no padding.
const batch = 32

func main() {
	ctx := context.Background()
	labels, shapes := []string{"cross", "square", "bar"}, []string{cross, square, bar}

	// A 1x1 convolution over 64 channels is a dense layer on every column.
	// Layer one scores each shape: 1/8 for ink in the right place, -1/8 in a wrong one.
	var score []float32
	for _, shape := range shapes {
		for _, pixel := range shape {
			score = append(score, map[rune]float32{'#': 0.125, '.': -0.125}[pixel])
		}
	}
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 64, 1, batch)
	hidden := f.Relu(f.Conv(x, f.Weight("score", score, 3, 64, 1, 1)))
	// Layer two subtracts the other scores from each score.
	contrast := f.Conv(hidden, f.Weight("contrast", []float32{2, -1, -1, -1, 2, -1, -1, -1, 2}, 3, 3, 1, 1))
	f.Output("y", f.Softmax(contrast, 1))
	p := ane.Must(b.Program())

	device := ane.Must(engine.Open(ctx, engine.Auto)) // Apple's engine if available
	defer device.Close()
	model := ane.Must(device.Compile(ctx, ane.Source{Program: p}))
	defer model.Close(ctx)
	r := ane.Must(model.NewRequest(ctx))
	defer r.Close()

	pictures := []string{bar, cross, worn}
	for column, picture := range pictures {
		for i, pixel := range picture {
			if pixel == '#' {
				check(r.Input("x").Set(1, 0, i, 0, column)) // writes into the shared page
			}
		}
	}
	ane.Must(r.Evaluate(ctx))
	var answers []string
	for column := range pictures {
		best, most := 0, float32(0)
		for i := range labels {
			if p := ane.Must(r.Output("y").At(0, i, 0, column)); p > most {
				best, most = i, p
			}
		}
		answers = append(answers, labels[best])
		fmt.Printf("picture %d: %-6s %.0f %%\n", column, labels[best], 100*most)
	}
	if got := strings.Join(answers, " "); got != "bar cross square" {
		log.Fatalf("wrong: %s", got)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err) // status 1
	}
}
