;; Somebody opens a workflow in Emacs, mends it and leaves: `emacs --batch -l smoke.el CONFIGURATION WORKFLOW`.

(package-initialize)
(require 'eglot)
(require 'yaml-mode)
(setq make-backup-files nil create-lockfiles nil)

(defun check (what holds)
  (unless holds
    (message "not as expected: %s" what)
    (kill-emacs 1))
  (message "ok: %s" what))

(defun wait (what holds)
  (let ((end (+ (float-time) 60)))
    (while (and (not (funcall holds)) (< (float-time) end))
      (accept-process-output nil 0.05))
    (check what (funcall holds))))

(let ((configuration (pop command-line-args-left))
      (workflow (pop command-line-args-left)))
  (load (expand-file-name configuration) nil t)
  (find-file workflow))

(apply #'eglot (eglot--guess-contact))
(wait "the server is attached" #'eglot-current-server)

(defun found ()
  (flymake-start)
  (mapconcat #'flymake-diagnostic-text (flymake-diagnostics) "\n"))
(wait "the unknown state is shown" (lambda () (string-match-p "`workng`" (found))))

(goto-char (point-min))
(search-forward "workng")
(replace-match "working")
(eglot--signal-textDocument/didChange)
(wait "the finding is gone after the edit" (lambda () (string= (found) "")))

(goto-char (point-min))
(search-forward "to: working")
(eglot-rename "coding")
(check "the state has another name everywhere"
       (save-excursion
         (goto-char (point-min))
         (and (search-forward "to: coding" nil t)
              (progn (goto-char (point-min)) (not (search-forward "to: working" nil t))))))

(set-buffer-modified-p nil)
(eglot-shutdown (eglot-current-server))
(kill-emacs 0)
