# glmnet at one strength. Variant "covariance" updates inner products, which is
# glmnet's own choice below 500 columns.
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
alpha <- as.numeric(arguments[3])
ridge <- as.numeric(arguments[4])
model <- arguments[2]
parameter <- as.numeric(arguments[6])
family <- switch(model, poisson = , poisson_ridge = "poisson", gamma = , gamma_ridge = Gamma(link = "log"),
                 tweedie = , tweedie_ridge = statmod::tweedie(var.power = parameter, link.power = 0),
                 logreg = , logreg_enet = , logreg_ridge = "binomial", multinomial = , multinomial_group = "multinomial", "gaussian")
# glmnet scales y to mean square 1 and with it the l1 part of the penalty, but
# not the ridge: so that both mean what they say, y is scaled here.
scale <- if (identical(family, "gaussian")) sqrt(mean(y^2)) else 1
alpha <- alpha / scale
target <- if (is.character(family) && family %in% c("binomial", "multinomial")) factor(y) else y / scale
common <- list(x = X, y = target, family = family, alpha = alpha / (alpha + ridge), lambda = alpha + ridge,
               maxit = 1e9, standardize = FALSE, intercept = FALSE)
if (identical(family, "gaussian")) common$type.gaussian <- if (arguments[5] == "covariance" || p < 500) "covariance" else "naive"
if (model == "multinomial_group") common$type.multinomial <- "grouped"
glmnet.control(fdev = 0, devmax = 1, eps = 1e-15, mxitnr = 1000)
writeLines(paste("glmnet", packageVersion("glmnet")))
flush(stdout())
input <- file("stdin", "r")
while (length(line <- readLines(input, 1)) > 0) {
  common$thresh <- as.numeric(line)
  glmnet.control(epsnr = common$thresh) # of families that glmnet fits in R
  clock <- Sys.time()
  m <- do.call(glmnet, common)
  seconds <- as.numeric(difftime(Sys.time(), clock, units = "secs"))
  b <- if (is.list(m$beta)) m$beta else list(m$beta) # one for each class
  index <- unlist(lapply(seq_along(b), function(k) b[[k]]@i * length(b) + k - 1))
  value <- unlist(lapply(b, function(one) one@x)) * scale
  cat(sprintf('{"seconds": %.9g, "objective": null, "gap": null, "index": [%s], "value": [%s]}\n', seconds,
              paste(index, collapse = ","), paste(sprintf("%.17g", value), collapse = ",")))
  flush(stdout())
}
