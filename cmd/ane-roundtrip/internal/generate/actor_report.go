package generate

import (
	"fmt"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/internal/measure"
)

// actorDetails are the fields that actor adds to the report.
type actorDetails struct {
	cli.Generated
	Model    string        `json:"model"`
	Guest    string        `json:"guest"` // its file, or talker
	Sum      string        `json:"guest_sha256"`
	Memory   int           `json:"guest_memory_bytes"` // of which the actor has grown to
	Prompt   int           `json:"prompt_tokens"`
	Said     int           `json:"said_tokens"` // in the actor's life
	Position int           `json:"position"`    // tokens that the model has taken
	Restored int           `json:"restored_tokens"`
	Moved    int           `json:"moved_tokens"` // that another model took again
	Stopped  string        `json:"stopped"`      // max or end
	Context  int           `json:"context"`
	Load     time.Duration `json:"load_ns"`
	Thaw     time.Duration `json:"thaw_ns"`
	Freeze   time.Duration `json:"freeze_ns"`
	Snapshot int64         `json:"snapshot_bytes"` // that freeze wrote
}

// report prints the figures.
func (j *actorJob) report(d *ane.Device) error {
	a, f := j.app, &j.figures
	f.Model, f.Memory, f.Prompt, f.Said = j.o.model, j.actor.Guest().Memory().Size(), len(j.actor.Prompt()),
		len(j.actor.Said())
	f.Position, f.Context = j.actor.Session().Position(), j.actor.Session().Cache().Cap()
	receipt := j.model.Receipt()
	a.Notes(append(receipt.Notes, j.notes...))
	r := cli.NewReport(d)
	r.SetEngine(&receipt)
	r.Generated = &f.Generated
	r.Details = f
	a.Deliver(r)
	if a.JSON {
		return nil
	}
	w := page.NewTable()
	w.Row("engine", cli.EngineText(&receipt))
	w.Row("numerics", receipt.Numerics)
	w.Row("guest", fmt.Sprintf("%s, %s of memory, SHA-256 %.16s...", cli.Visible(f.Guest),
		measure.BytesText(f.Memory), f.Sum))
	w.Row("talk", fmt.Sprintf("%d tokens of the prompt, %d said, %d of them now, ended by %s", f.Prompt, f.Said,
		len(f.Tokens), f.Stopped))
	w.Row("time", fmt.Sprintf("load %s, first token %s, %.1f tokens per second", cli.Brief(f.Load), cli.Brief(f.First), f.Rate))
	if j.work.thaw {
		w.Row("thawed", fmt.Sprintf("%d tokens restored, %d taken again, in %s", f.Restored, f.Moved, cli.Brief(f.Thaw)))
	}
	if j.work.freeze {
		w.Row("frozen", fmt.Sprintf("%s, %s in %s", cli.Visible(j.o.snapshot), measure.BytesText(int(f.Snapshot)),
			cli.Brief(f.Freeze)))
	}
	w.Row("copied", fmt.Sprintf("%d bytes in this run: tokens from and to the guest, %s", f.Copied, whatIsCopied))
	if err := a.Printf("\n"); err != nil {
		return err
	}
	return a.Table(w)
}
