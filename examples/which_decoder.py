"""Which decoder? Train one sparse code once on digits and decode the same margins with every decoder.

python examples/which_decoder.py
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from outputcodes import OutputCodeClassifier
from outputcodes.decoders import DECODERS, LossBased, as_decoder


def main() -> None:
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X / 16, y, test_size=0.4, stratify=y, random_state=0)
    model = OutputCodeClassifier(LinearSVC(), code="sparse", random_state=0).fit(X_train, y_train)
    k, L = model.code_matrix_.shape
    print(f"LinearSVC, sparse code of {k} classes × {L} columns; the learner's loss is {model.margin_loss_!r}.\n")

    decoders = {name: as_decoder(name) for name in DECODERS}
    decoders["loss, zeros ignored"] = LossBased(zeros="ignore")
    errors = {}
    for name, decoder in decoders.items():
        # Only decoders that learn use the training sample; no column is trained again.
        try:
            errors[name] = 1 - model.with_decoder(decoder, X_train, y_train).score(X_test, y_test)
        except ValueError as reason:
            print(f"left out: {reason}")

    print(f"\n{'decoder':<22} test error")
    for name, error in sorted(errors.items(), key=lambda item: item[1]):
        print(f"{name:<22} {error:>9.1%}  {'█' * round(200 * error)}")


if __name__ == "__main__":
    main()
