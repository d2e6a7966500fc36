// Package iterdiff differentiates the iterates of an inner solver with respect
// to the log-hyperparameters λ: forward and backward differentiation of
// proximal gradient descent (PGD) and of proximal coordinate descent (PCD)
// (Bertrand et al., JMLR 2022, algorithms 1 to 4). Package implicit is faster
// wherever the solution itself is wanted; this package gives the derivative of
// the algorithm, exact at every iterate, and shows how it converges
// (theorem 3.2).
//
// Where the paper's text differs from its theorems, the theorems are followed:
// every prox is prox_{γg} with its step γ, in value and in derivatives; the
// Hessian is that of the iterate before the update; and backward PCD does
// h += vⱼ·∂_λ prox before vⱼ is scaled.
//
// All four methods cost O(nnz) per epoch for shared hyperparameters, the backward ones for any number of
// them: the reverse sweep keeps v = a − X̃ᵀu with u over the rows, so that a coordinate costs its own column.
// The reverse sweep visits only coordinates that were not 0 before or after their step.
//
// Coordinates at 0 have ∂β = 0, so that their derivatives cost nothing. smoothloss.go has the operations of a
// single coordinate, descent.go the two descents, forward.go and weighted.go the Jacobian that goes along
// with a descent, and backward.go the reverse sweep.
package iterdiff
