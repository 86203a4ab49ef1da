package actor_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/models/actor"
	"github.com/anekit/anekit/models/decoder"
)

func Example() {
	dir := ane.Must(os.MkdirTemp("", "actor"))
	defer os.RemoveAll(dir)
	ane.Must(decodertest.Write(dir, decodertest.Spec{Family: decodertest.Llama3, Seed: 1})) // a small random model

	ctx := context.Background()
	device := ane.Must(engine.Open(ctx, engine.Soft))
	defer device.Close()
	folder := ane.Must(decoder.Open(dir))
	defer folder.Close()
	model := ane.Must(decoder.Load(ctx, device, folder, decoder.WithForm(decoder.Compact), decoder.Context(64)))
	defer model.Close(ctx)
	host := ane.Must(actor.NewHost(ctx, device, model))
	defer host.Close(ctx)
	code := ane.Must(host.Load(ctx, actor.Talker()))
	defer code.Close(ctx)

	a := ane.Must(code.Start(ctx, actor.Config{Prompt: []int{1, 5, 7}}))
	defer a.Close(ctx)
	ane.Must(a.Next(ctx))
	path := filepath.Join(dir, "talk.actor")
	if err := a.Freeze(ctx, path); err != nil {
		panic(err)
	}
	b := ane.Must(code.Thaw(ctx, path, actor.Config{})) // here, or in another process
	defer b.Close(ctx)
	fmt.Println(ane.Must(a.Next(ctx)) == ane.Must(b.Next(ctx)), len(b.Said()))
	// Output: true 2
}
