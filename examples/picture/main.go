// Command picture finds the edge of a disk with a 3x3 convolution; -out FILE writes a PNG.
package main

import (
	"context"
	"flag"
	"fmt"
	"image"
	"image/png"
	"log"
	"os"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil/build"
)

const size = 64

func main() {
	out := flag.String("out", "", "write the result to this PNG file")
	flag.Parse()
	ctx := context.Background()

	// Eight times the pixel minus its neighbors: 0 in flat areas.
	laplace := []float32{-1, -1, -1, -1, 8, -1, -1, -1, -1}
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 1, size, size) // one picture, one channel
	f.Output("y", f.Conv(x, f.Weight("w", laplace, 1, 1, 3, 3), build.Same))
	p := ane.Must(b.Program())
	device := ane.Must(engine.Open(ctx, engine.Auto)) // Apple's engine if available
	defer device.Close()
	model := ane.Must(device.Compile(ctx, ane.Source{Program: p}))
	defer model.Close(ctx)
	r := ane.Must(model.NewRequest(ctx))
	defer r.Close()

	picture := disk()
	ane.Must(r.Input("x").WriteFloat32(picture))
	ane.Must(r.Evaluate(ctx))
	edge := ane.Must(r.Output("y").Float32s())
	fmt.Println("row 32, columns 10 to 16:", edge[32*size+10:32*size+17])
	gray := image.NewGray(image.Rect(0, 0, size, size))
	for i, got := range edge {
		// All sums are small whole numbers, which fp16 holds exactly.
		if want := convolved(picture, laplace, i%size, i/size); got != want {
			log.Fatalf("wrong: pixel %d is %v, not %v", i, got, want)
		}
		gray.Pix[i] = uint8(255 * min(max(got, 0), 1))
	}
	fmt.Println("every pixel is as defined")
	if *out != "" {
		file := ane.Must(os.Create(*out))
		check(png.Encode(file, gray))
		check(file.Close())
	}
}

// disk returns a picture that is white (1) within 20 pixels of the middle, otherwise black (0).
func disk() []float32 {
	all := make([]float32, size*size)
	for i := range all {
		if dx, dy := i%size-size/2, i/size-size/2; dx*dx+dy*dy <= 20*20 {
			all[i] = 1
		}
	}
	return all
}

// convolved computes one pixel by the definition of a convolution, with zeros outside of the
// picture.
func convolved(in, kernel []float32, col, row int) (sum float32) {
	for k, w := range kernel {
		if c, r := col+k%3-1, row+k/3-1; c >= 0 && c < size && r >= 0 && r < size {
			sum += w * in[r*size+c]
		}
	}
	return sum
}

func check(err error) {
	if err != nil {
		log.Fatal(err) // status 1
	}
}
