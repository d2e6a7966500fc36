package main

import (
	"context"

	"github.com/seed-45b9a24c/pare/bench/studies"
)

type figuresCommand struct{ runFlags }

func (c *figuresCommand) run(ctx context.Context, env environment) error {
	return c.runFlags.run(ctx, env, "figures", studies.All(), nil)
}
