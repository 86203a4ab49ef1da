package generate

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/wholefile"
	"github.com/anekit/anekit/models/decoder"
)

// onModel runs a command on a language model: prepare opens j.folder and checks everything that needs no engine, then
// onModel opens the engine and loads the model, and work uses both.
func (j *generateJob) onModel(ctx context.Context, prepare func() error, work func(*ane.Device) error) (err error) {
	defer func() {
		if j.folder != nil {
			err = errors.Join(err, j.folder.Close())
		}
	}()
	if err := prepare(); err != nil {
		return err
	}
	d, err := j.app.OpenEngineOrHint(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := j.load(ctx, d); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.model.Close(context.WithoutCancel(ctx))) }()
	return work(d)
}

// load loads the model.
func (j *generateJob) load(ctx context.Context, d *ane.Device) (err error) {
	form := decoder.Compact
	if name := d.Info().Name; name == engine.Apple || name == engine.StandIn {
		form = decoder.Engine
	}
	if j.o.form != "" {
		form, _ = decoder.ParseForm(j.o.form) // checkForm has accepted it
	}
	options := []decoder.Option{decoder.WithForm(form), decoder.Context(j.o.context)}
	if c, err := j.app.EmulatedChip(d.Info().Name); err == nil && c != 0 {
		options = append(options, decoder.Chip(c))
	}
	bar := j.app.Progress(0)
	defer bar.Stop()
	bar.Now("load " + j.o.model)
	j.model, err = decoder.Load(ctx, d, j.folder, options...)
	return err
}

// checkForm refuses a form that there is not.
func (o *generateOptions) checkForm() error {
	if o.form == "" {
		return nil
	}
	if _, err := decoder.ParseForm(o.form); err != nil {
		return cli.NoSuch("form", o.form, cli.Names(decoder.Forms()))
	}
	return nil
}

// followLinks returns the target of a path with symbolic links, which need not exist: a file that is saved to a
// link would replace the link.
func followLinks(path string) string {
	if target, err := wholefile.Target(path); err == nil {
		return target
	}
	return path
}

// badModel marks the errors of a folder, a prompt or a snapshot that the user has to fix.
func badModel(err error) error {
	var e *decoder.Error
	if !errors.As(err, &e) {
		return err
	}
	for _, kind := range []error{decoder.ErrConfig, decoder.ErrArchitecture, decoder.ErrWeights, decoder.ErrNaN,
		decoder.ErrVocabulary, decoder.ErrTooLong, decoder.ErrTokenizer, decoder.ErrSampler, decoder.ErrLimits,
		decoder.ErrSnapshot} {
		if errors.Is(err, kind) {
			return cli.BadInput{Err: err, Hint: e.Hint}
		}
	}
	return err
}
