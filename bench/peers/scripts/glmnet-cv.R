# glmnet along paths, by folds, without intercept: the mean over the folds of the
# squared error on held-out rows (of the logistic loss for logreg) at every point.
# Arguments: the problem, its model, the fold of each row (int32), and the paths, one
# a line: l1 strength, ridge, l1 strength, ridge, ... with one ratio along a line.
# A line of standard input is a thresh. Splitting the rows stays out of the clock.
arguments <- commandArgs(TRUE)
suppressMessages(library(glmnet))
f <- file(arguments[1], "rb")
header <- readBin(f, "integer", 4, size = 4)
n <- header[1]
p <- header[2]
starts <- readBin(f, "integer", p + 1, size = 4)
rows <- readBin(f, "integer", header[3], size = 4)
values <- readBin(f, "double", header[3])
y <- readBin(f, "double", n)
close(f)
X <- sparseMatrix(i = rows, p = starts, x = values, dims = c(n, p), index1 = FALSE)
if (header[4] == 1) X <- as.matrix(X)
logistic <- arguments[2] == "logreg"
fold <- readBin(arguments[3], "integer", n, size = 4)
paths <- lapply(strsplit(trimws(readLines(arguments[4])), " +"), function(l) matrix(as.numeric(l), nrow = 2))
type <- if (arguments[5] == "covariance" || (arguments[5] == "-" && p < 500)) "covariance" else "naive"
folds <- sort(unique(fold[fold >= 0]))
parts <- lapply(folds, function(k) {
  list(X = X[fold != k, , drop = FALSE], y = y[fold != k], held = X[fold == k, , drop = FALSE], yheld = y[fold == k])
})
glmnet.control(fdev = 0, devmax = 1, eps = 1e-15)
writeLines(paste("glmnet", packageVersion("glmnet")))
flush(stdout())
input <- file("stdin", "r")
while (length(line <- readLines(input, 1)) > 0) {
  thresh <- as.numeric(line)
  total <- 0
  errors <- lapply(paths, function(a) numeric(ncol(a)))
  samples <- character(0)
  for (k in seq_along(parts)) {
    part <- parts[[k]]
    # glmnet scales y to mean square 1 and with it the l1 part, but not the ridge.
    scale <- if (logistic) 1 else sqrt(mean(part$y^2))
    for (l in seq_along(paths)) {
      a <- paths[[l]]
      l1 <- a[1, ] / scale
      clock <- Sys.time()
      common <- list(x = part$X, y = if (logistic) factor(part$y) else part$y / scale, family = if (logistic) "binomial" else "gaussian",
                     alpha = l1[1] / (l1[1] + a[2, 1]), lambda = l1 + a[2, ], thresh = thresh, maxit = 1e9, standardize = FALSE, intercept = FALSE)
      if (!logistic) common$type.gaussian <- type
      m <- do.call(glmnet, common)
      b <- m$beta * scale
      prediction <- as.matrix(part$held %*% b)
      loss <- if (logistic) colMeans(log1p(exp(-part$yheld * prediction))) else colMeans((part$yheld - prediction)^2)
      total <- total + as.numeric(difftime(Sys.time(), clock, units = "secs"))
      errors[[l]] <- errors[[l]] + loss / length(parts)
      for (point in unique(c(seq(1, ncol(a), by = 10), ncol(a)))) {
        from <- b@p[point] + 1
        at <- if (b@p[point + 1] >= from) from:b@p[point + 1] else integer(0)
        samples <- c(samples, sprintf('{"fold": %d, "path": %d, "point": %d, "index": [%s], "value": [%s]}', folds[k], l - 1, point - 1,
                                      paste(b@i[at], collapse = ","), paste(sprintf("%.17g", b@x[at]), collapse = ",")))
      }
    }
  }
  cat(sprintf('{"seconds": %.9g, "values": [%s], "samples": [%s]}\n', total,
              paste(sprintf("%.17g", unlist(errors)), collapse = ","), paste(samples, collapse = ",")))
  flush(stdout())
}
