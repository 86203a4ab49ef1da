package measure

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane"
)

// Program compiles a program on d and makes a request of it, whose inputs fill fills. done closes both.
func Program(ctx context.Context, d *ane.Device, s ane.Source, fill func(*ane.Tensor) error) (r *ane.Request,
	done func() error, err error) {
	m, err := d.Compile(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	done = func() error { return errors.Join(r.Close(), m.Close(context.WithoutCancel(ctx))) } // r may be nil
	r, err = m.NewRequest(ctx)
	for _, l := range m.Inputs() {
		if err == nil {
			err = fill(r.Input(l.Name))
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return r, done, nil
}
