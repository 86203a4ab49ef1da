package decoder_test

import (
	"context"
	"fmt"
	"os"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/models/decoder"
)

// A model answers a prompt of token ids; the conversation is saved, and goes on in another session.
func ExampleSession_Answer() {
	dir := ane.Must(os.MkdirTemp("", "model"))
	defer os.RemoveAll(dir)
	ane.Must(decodertest.Write(dir, decodertest.Spec{Family: decodertest.Llama3, Seed: 4})) // random weights

	ctx := context.Background()
	device := ane.Must(engine.Open(ctx, engine.Soft))
	defer device.Close()
	folder := ane.Must(decoder.Open(dir))
	defer folder.Close()
	model := ane.Must(decoder.Load(ctx, device, folder, decoder.WithForm(decoder.Compact), decoder.Context(256)))
	defer model.Close(ctx)

	session := ane.Must(model.NewSession())
	defer session.Close()
	talk := decoder.Snapshot{Prompt: []int{1, 5, 7}} // greedy
	ane.Must(session.Answer(ctx, &talk, 4, func(token int) error {
		return nil // print the token here
	}))
	if err := session.SaveFile(ctx, dir+"/talk", talk); err != nil {
		panic(err)
	}

	other := ane.Must(model.NewSession())
	defer other.Close()
	restored := ane.Must(other.RestoreFile(ctx, dir+"/talk", talk.Prompt))
	ane.Must(other.Answer(ctx, &restored, 4, nil))
	ane.Must(session.Answer(ctx, &talk, 4, nil))
	fmt.Println(len(talk.Answer), fmt.Sprint(talk.Answer) == fmt.Sprint(restored.Answer))
	// Output: 8 true
}

func ExampleSampler() {
	s := ane.Must(decoder.NewSampler(0.7, 0.9, 42))
	logits := []float32{1, 3, 2.5, -1}
	var tokens []int
	for range 8 {
		tokens = append(tokens, s.Next(logits))
	}
	fmt.Println(tokens)
	// Output: [2 2 1 1 1 1 2 2]
}
