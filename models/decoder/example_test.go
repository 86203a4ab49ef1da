package decoder_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/models/decoder"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A folder becomes a model, a model has conversations, and a conversation goes on token by token.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "model")
	check(err)
	defer os.RemoveAll(dir)
	_, err = decodertest.Write(dir, decodertest.Spec{Family: decodertest.Qwen3, Seed: 7}) // random weights
	check(err)

	device, err := engine.Open(ctx, engine.Soft)
	check(err)
	defer device.Close()
	folder, err := decoder.Open(dir)
	check(err)
	defer folder.Close()
	model, err := decoder.Load(ctx, device, folder, decoder.WithForm(decoder.Compact), decoder.Context(100),
		decoder.Chunk(32)) // a prompt takes passes of 32 tokens
	check(err)
	defer model.Close(ctx)
	session, err := model.NewSession()
	check(err)
	defer session.Close()

	check(session.Prefill(ctx, []int{17, 4, 71}))
	for range 3 {
		best := 0
		for token, logit := range session.Logits() {
			if logit > session.Logits()[best] {
				best = token
			}
		}
		check(session.Step(ctx, best))
	}
	fmt.Println(session.Position(), "tokens, of them", session.Position()-3, "new")
	fmt.Println(session.Cache().Len(), "in the cache, room for", model.Context())
	// Output:
	// 6 tokens, of them 3 new
	// 6 in the cache, room for 100
}

// What a chip does not take is refused with the numbers, before anything is compiled.
func ExampleLoad_limits() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "model")
	check(err)
	defer os.RemoveAll(dir)
	_, err = decodertest.Write(dir, decodertest.Spec{Heads: 1, HeadDim: 17000, Layers: 1})
	check(err)
	device, err := engine.Open(ctx, engine.Soft)
	check(err)
	defer device.Close()
	folder, err := decoder.Open(dir)
	check(err)
	defer folder.Close()
	_, err = decoder.Load(ctx, device, folder)
	fmt.Println(strings.ReplaceAll(err.Error(), ": ", ":\n"))
	// Output:
	// decoder:
	// load:
	// a head of attention:
	// limit of the chip exceeded:
	// 8704128 bytes of weights, at most 8388608 (measured, ironmill, on M3 Pro:
	// about 8 MB) in a program; use the form compact on a software engine
}
