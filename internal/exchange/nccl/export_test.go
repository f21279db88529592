package nccl

import "time"

// Hurry sets how long Close waits for the others.
func (x *Exchange) Hurry(patience time.Duration) { x.patience = patience }
