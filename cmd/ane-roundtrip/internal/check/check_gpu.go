package check

import (
	"context"
	"errors"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/gpu"
)

// gpuTime bounds the start and the end of a driver, and all checks of a GPU: drivers can hang.
const gpuTime = time.Minute

// openGPU opens the GPU of --gpu; it returns nil without the flag.
func openGPU(a *cli.App, ctx context.Context, o checkOptions) (gpu.Device, error) {
	if o.gpu == "" {
		return nil, nil
	}
	limited, cancel := context.WithTimeout(ctx, gpuTime)
	defer cancel()
	d, err := gpu.Open(limited, o.gpu)
	if err == nil && o.inject == GPUCopy {
		d = gpu.Copying(d)
	}
	return d, err
}

func (c *CheckRun) closeGPU(ctx context.Context) error {
	if c.gpu == nil {
		return nil
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), gpuTime)
	defer cancel()
	return c.gpu.Close(limited)
}

// checkGPU makes the checks of the GPU. The engine that takes turns with it is the one of the flags, opened again: the
// software engine so that it accepts tensors at an offset, and all turns are on one Block.
func (c *CheckRun) checkGPU(ctx context.Context, wrap func(ane.Engine) ane.Engine) (err error) {
	if c.gpu == nil || !c.only.has(gpu.Names()...) {
		return nil
	}
	name, opts, err := c.App.EngineChoice()
	if err != nil {
		return err
	}
	if c.report.Engine.Engine == engine.Soft {
		opts = append(opts, engine.AllowOffsets())
	}
	limited, cancel := context.WithTimeout(ctx, gpuTime)
	defer cancel()
	e, err := engine.Open(limited, name, append(opts, engine.Wrap(wrap))...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	made, err := gpu.Checks(limited, c.gpu, e, c.only.has)
	if err != nil && ctx.Err() == nil {
		return errors.Join(errors.New("the GPU did not answer in time"), err)
	}
	c.ofGPU = c.only.filter(made)
	return err
}
