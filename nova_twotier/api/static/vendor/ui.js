// The libraries of the board in one module: `import {html, signal} from "./vendor/ui.js"`.
import htm from "./htm.js";
import {h} from "./preact.js";

export {Component, Fragment, createContext, h, render} from "./preact.js";
export {
  useCallback, useContext, useEffect, useId, useLayoutEffect, useMemo, useReducer, useRef, useState,
} from "./preact-hooks.js";
export {batch, computed, effect, signal, untracked, useComputed, useSignal, useSignalEffect} from "./signals.js";
export const html = htm.bind(h);
