// Command generate runs a small language model of random weights, saves the conversation between two tokens, goes on
// with it in another session, and forks that.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/models/decoder"
)

func main() {
	dir := flag.String("model", "", "`FOLDER` of a model as published (default: a small one of random weights)")
	flag.Parse()
	temporary := ane.Must(os.MkdirTemp("", "generate"))
	defer os.RemoveAll(temporary)
	if *dir == "" {
		*dir = temporary
		ane.Must(decodertest.Write(*dir, decodertest.Spec{Family: decodertest.Llama3, Bits: 4, Seed: 4}))
	}

	ctx := context.Background()
	device := ane.Must(engine.Open(ctx, engine.Auto)) // Apple's engine if available
	defer device.Close()
	folder := ane.Must(decoder.Open(*dir)) // maps the weights
	defer folder.Close()
	form := decoder.Engine
	if device.Info().Name == engine.Soft {
		form = decoder.Compact // packed weights, as they are stored
	}
	model := ane.Must(decoder.Load(ctx, device, folder, decoder.WithForm(form), decoder.Context(256)))
	defer model.Close(ctx)

	prompt := []int{1, 5, 7}
	whole := decoder.Snapshot{Prompt: prompt, Sampler: ane.Must(decoder.NewSampler(0.8, 0.95, 2))}
	answer(ctx, model, &whole, 8)
	fmt.Println("in one go: ", whole.Answer)

	first := decoder.Snapshot{Prompt: prompt, Sampler: ane.Must(decoder.NewSampler(0.8, 0.95, 2))}
	session := ane.Must(model.NewSession())
	ane.Must(session.Answer(ctx, &first, 3, nil))
	file := filepath.Join(temporary, "chat.kv")
	check(session.SaveFile(ctx, file, first))
	check(session.Close())
	fmt.Println("saved:     ", first.Answer)

	session = ane.Must(model.NewSession())
	defer session.Close()
	second := ane.Must(session.RestoreFile(ctx, file, prompt))
	fork := ane.Must(session.Fork())
	defer fork.Close()
	ane.Must(session.Answer(ctx, &second, 5, nil))
	fmt.Println("went on to:", second.Answer)
	third := decoder.Snapshot{Prompt: prompt, Answer: slices.Clone(first.Answer)}
	ane.Must(fork.Answer(ctx, &third, 5, nil)) // without a Sampler: the most likely tokens
	fmt.Println("forked:    ", third.Answer)
	if !slices.Equal(whole.Answer, second.Answer) {
		log.Fatal("wrong: another answer")
	}
}

// answer adds n tokens to a conversation in a session of its own.
func answer(ctx context.Context, model *decoder.Model, talk *decoder.Snapshot, n int) {
	session := ane.Must(model.NewSession())
	defer session.Close()
	ane.Must(session.Answer(ctx, talk, n, func(token int) error {
		return nil // here a program prints the token
	}))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
